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
    "Elapsed": "elapsed",
    "Reason": "reason",
}
JOB_LONG = {
    "Pool": "pool",
    "Why": "why",
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
            return "None"
        count, error = self._value["undelivered"], self._value["error"]
        behind = f", {count} to come" if count else ""
        return self._value["origin"] + behind + (f": {error}" if error else "")


class Dependencies(FormattableColumn):
    """A job's dependencies, in the words of the options of `job create`."""

    def human_readable(self):
        return ", ".join(
            f"{each['condition']} {each['number']}" + (" (met)" if each["met_at"] else "")
            for each in self._value
        )


class Why(FormattableColumn):
    """A reason for programs; people see its code."""

    def human_readable(self):
        return _code(self._value)


class Manager(FormattableColumn):
    """Whether a queue manager is at work, for programs; people see the text."""

    def human_readable(self):
        return self._value["text"]


class Shown(FormattableColumn):
    """A value with a text that people see instead."""

    def __init__(self, value, shown: str):
        super().__init__(value)
        self._shown = shown

    def human_readable(self):
        return self._shown


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
    "dependencies": Dependencies,
    "events": Events,
    "manager": Manager,
    "servers": Servers,
    "webhook": Webhook,
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
    return tuple(
        _code(item.get(field)) if field == "why" else cell(field, item.get(field))
        for field in columns.values()
    )


def label(job: dict) -> str:
    """A job in a sentence: number and name; its uuid if the API is too old to know numbers."""
    return f"job {job_label(job.get('number', job['uuid']), job['name'])}"


def counted(count: int, noun: str) -> str:
    """A number with its noun, such as `1,000 jobs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def one(item: dict) -> tuple[tuple, tuple]:
    """The names and values of all fields of an item."""
    shown = {name: value for name, value in item.items() if name != "links"}
    return tuple(shown), tuple(cell(name, value) for name, value in shown.items())
