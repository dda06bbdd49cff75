"""Turns the API's answers into columns: raw values for programs, formatted ones for people."""

from cliff.columns import FormattableColumn

from nova_twotier.client.durations import clock
from nova_twotier.core.jobs import job_label

#: Columns of a job in a list: heading, and field of the API.
JOB = {
    "Number": "number",
    "UUID": "uuid",
    "Name": "name",
    "Size": "size",
    "State": "state",
    "Tier": "tier",
    "Submitted": "submitted_at",
    "Expected Start": "predicted_start",
    "Elapsed": "elapsed",
    "Reason": "reason",
}
JOB_LONG = {
    "Pool": "pool",
    "QoS": "qos",
    "Why": "why",
    "Expected Finish": "expected_finish",
    "Start": "start",
    "Started": "started_at",
    "Finished": "finished_at",
    "Evictions": "evictions",
    "Swaps": "swaps",
    "Migrations": "migrations",
}
#: Most servers of a job to show to people.
MOST_SERVERS = 50
EVENT = {"At": "at", "Event": "kind", "Detail": "detail", "Number": "job_number", "Job": "job"}
#: Those of them that people read in a line, the longest last.
EVENT_LINE = ("At", "Number", "Project", "Event", "Detail")


class Time(FormattableColumn):
    """A time, shown to the second."""

    def human_readable(self):
        return self._value and f"{self._value[:19]}Z"


class Elapsed(FormattableColumn):
    """Seconds, shown as hours, minutes and seconds."""

    def human_readable(self):
        return clock(self._value)


class Minute(FormattableColumn):
    """An expected time, to the minute."""

    def human_readable(self):
        return minute(self._value) if self._value else ""


class Expected(FormattableColumn):
    """A time that is expected, with the interval that holds it with a probability of 80 %."""

    def human_readable(self):
        return expected(self._value) if self._value else ""


class Words(FormattableColumn):
    """A list, or a mapping of counts, in one line."""

    def human_readable(self):
        if isinstance(self._value, dict):
            counts = [f"{name} {count}" for name, count in self._value.items() if count]
            return ", ".join(counts) or "none"
        return ", ".join(map(str, self._value))


class Cpu(FormattableColumn):
    """CPU utilisations, shown as one number if they are all the same; a dash if one is unknown."""

    def human_readable(self):
        shown = ["-" if value is None else f"{value:g}" for value in self._value]
        return shown[0] if len(set(shown)) == 1 else ", ".join(shown)


class Events(FormattableColumn):
    """Events, one per line."""

    def human_readable(self):
        return "\n".join(
            f"{event['at'][:19]}Z {event['kind']}"
            + (f": {event['detail']}" if event["detail"] else "")
            for event in self._value
        )


class Servers(FormattableColumn):
    """The servers of a job, one per line: tier, host and addresses, if they are known."""

    def human_readable(self):
        shown = [_server(server) for server in self._value[:MOST_SERVERS]]
        more = len(self._value) - MOST_SERVERS
        return "\n".join([*shown, *([f"and {more:,} more: see -f json"] if more > 0 else [])])


class Webhook(FormattableColumn):
    """Where the events of a job are posted, and what is still to come."""

    def human_readable(self):
        if not self._value:
            return ""
        count, error = self._value["undelivered"], self._value["error"]
        behind = f", {count} to come" if count else ""
        return self._value["origin"] + behind + (f": {error}" if error else "")


class Dependencies(FormattableColumn):
    """A job's dependencies, in the words of the options of `job create`."""

    def human_readable(self):
        return ", ".join(
            f"{each['condition']} {'array ' if each.get('array') else ''}{each['number']}"
            + (" (met)" if each["met_at"] else "")
            for each in self._value
        )


class InArray(FormattableColumn):
    """The array of a task, with its index there."""

    def human_readable(self):
        return f"{self._value['number']}_{self._value['index']}" if self._value else ""


class History(FormattableColumn):
    """A run time predicted from similar finished jobs."""

    def human_readable(self):
        if self._value is None:
            return ""
        time = Elapsed(self._value["seconds"]).human_readable()
        return f"{time} (from {counted(self._value['similar_jobs'], 'similar job')})"


class Why(FormattableColumn):
    """A reason for programs; people see its code."""

    def human_readable(self):
        return _code(self._value)


class Text(FormattableColumn):
    """A reason for programs; people see its text."""

    def human_readable(self):
        return self._value["text"] if self._value else ""


class Manager(FormattableColumn):
    """Whether a queue manager is at work, for programs; people see the text."""

    def human_readable(self):
        return self._value["text"]


class Records(FormattableColumn):
    """How right a queue's predictions have been, for programs; people see how often they held."""

    def human_readable(self):
        if not self._value:
            return "none yet"
        which = ("starts", "finishes")
        if not any(self._value[what]["of"] for what in which):
            return held(self._value["starts"])
        return "; ".join(f"intervals of {what}: {held(self._value[what])}" for what in which)


class Shown(FormattableColumn):
    """A value with a text that people see instead."""

    def __init__(self, value, shown: str):
        super().__init__(value)
        self._shown = shown

    def human_readable(self):
        return self._shown


def minute(time: str) -> str:
    """A time of the API to the minute: `2026-11-25 03:10 UTC`."""
    return f"{time[:10]} {time[11:16]} UTC"


def expected(times: dict) -> str:
    """`2026-11-25 03:10 UTC (02:55 to 03:40, 80 %)`, with dates in the interval if they differ."""
    at, low, high = times["at"], times["low"], times["high"]
    if not (low and high):
        return minute(at)
    same = at[:10] == low[:10] == high[:10]
    low, high = (each[11:16] if same else f"{each[:10]} {each[11:16]}" for each in (low, high))
    return f"{minute(at)} ({low} to {high}, 80 %)"


def held(record: dict) -> str:
    """How often intervals have held: `held for 83 of the last 100 jobs`."""
    if not record["of"]:
        return "too few jobs have ended yet to give an interval"
    return f"held for {record['held']} of the last {counted(record['of'], 'job')}"


def with_expectations(item: dict) -> dict:
    """A job or an explanation with one field for each time that is expected, not three."""
    fields: dict = {}
    for name, value in item.items():
        if name in ("predicted_start", "predicted_finish"):
            times = {"at": value, "low": item[f"{name}_low"], "high": item[f"{name}_high"]}
            fields[name.replace("predicted", "expected")] = times if value else None
        elif not (name.startswith("predicted_") and name.endswith(("_low", "_high"))):
            fields[name] = value
    return fields


def _server(server: dict) -> str:
    slot = f"{'was ' if server['until'] else ''}{server['tier']}"
    host = f" on {server['host']}" if "host" in server else ""
    addresses = server.get("addresses") or []
    return ", ".join([f"{server['name']}: {slot}{host}", *addresses, server["uuid"]])


def _code(why: dict | None) -> str:
    return why["code"] if why else ""


def amount(value: float | None, width: int) -> Shown:
    """A number aligned to the right of its column; a dash for None."""
    return Shown(value, f"{'-' if value is None else value:>{width}}")


#: Fields with seconds.
_DURATIONS = ("estimate", "queue_offset", "walltime")
#: Fields that are shown in a form of their own.
_CELLS: dict[str, type[FormattableColumn]] = {
    "array": InArray,
    "dependencies": Dependencies,
    "estimate_from_history": History,
    "events": Events,
    "expected_finish": Expected,
    "expected_start": Expected,
    "manager": Manager,
    "predicted_start": Minute,
    "predictions": Records,
    "servers": Servers,
    "webhook": Webhook,
    "unblock": Text,
    "unpredicted": Text,
    "why": Why,
}


def cell(name: str, value):
    """A field of the API, formatted if necessary."""
    if name == "at" or name.endswith("_at"):
        return Time(value)
    if name.endswith("elapsed") or (name in _DURATIONS and value is not None):
        return Elapsed(value)
    if name.endswith("cpu") and isinstance(value, list):
        return Cpu(value)
    if name in _CELLS:
        return _CELLS[name](value)
    return Words(value) if isinstance(value, list | dict) else value


def row(columns: dict[str, str], item: dict) -> tuple:
    """An item as a row; missing fields are empty, and of a reason there is the code alone."""
    special = {"why": _code(item.get("why"))}
    if item.get("array"):
        special |= {name: number(item) for name in ("number", "job_number")}
    return tuple(
        special[field] if field in special else cell(field, item.get(field))
        for field in columns.values()
    )


def number(item: dict):
    """What commands call a job: its number; of a task `12_3`, of all that wait `12_[4-99%8]`."""
    if array := item.get("array"):
        waiting = item.get("waiting")
        return f"{array['number']}_" + (f"[{waiting}]" if waiting else str(array["index"]))
    return item.get("number")


def label(job: dict) -> str:
    """A job in a sentence: number and name; its uuid if the API is too old to know numbers."""
    return f"job {job_label(number(job) or job['uuid'], job['name'])}"


def counted(count: int, noun: str) -> str:
    """A number with its noun, such as `1,000 jobs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def one(item: dict) -> tuple[tuple, tuple]:
    """The names and values of all fields of an item."""
    shown = {name: value for name, value in item.items() if name != "links"}
    return tuple(shown), tuple(cell(name, value) for name, value in shown.items())
