"""Turns the API's answers into columns: raw values for programs, formatted ones for people."""

import re

from cliff.columns import FormattableColumn

from nova_twotier.core.durations import clock
from nova_twotier.core.indexes import parse
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
    "Expected Start": "expected_start",  # with its interval
    "Expected Finish": "expected_finish",
    "Start": "start",
    "Started": "started_at",
    "Finished": "finished_at",
    "Evictions": "evictions",
    "Swaps": "swaps",
    "Migrations": "migrations",
}
#: The intervals of the times that are expected, which people see beside the times themselves.
JOB_INTERVALS = {
    f"Expected {what} {bound}": f"expected_{what}_{bound}".lower()
    for what in ("Start", "Finish")
    for bound in ("Low", "High")
}
INTERVALS = frozenset(JOB_INTERVALS.values())
#: Most servers of a job to show to people.
MOST_SERVERS = 50
#: Columns of an event.
EVENT = {
    "At": "at",
    "Number": "job_number",
    "Project": "project_id",
    "Event": "kind",
    "Detail": "detail",
    "Job": "job",
    # Last: scripts that read `-f value` count columns.
    "User": "asked_by",
}
#: Most characters of the indexes of tasks to show to people in a list.
MOST_INDEXES = 32


class Number(FormattableColumn):
    """What commands call a job, see `number`; lists sort it as a number.

    People see the first indexes of many tasks, as in `squeue`, and how many more there are; so
    `arrays.find` knows which tasks are meant.
    """

    def human_readable(self):
        array, bracket, rest = self._value.partition("[")
        indexes, percent, limit = rest.removesuffix("]").partition("%")
        if len(indexes) <= MOST_INDEXES:
            return self._value
        kept = indexes[: MOST_INDEXES + 1].rpartition(",")[0]
        more = len(parse(indexes)) - len(parse(kept))
        return f"{array}{bracket}{kept},...+{more}{percent}{limit}]"

    def __lt__(self, other):
        return self._key < other._key

    @property
    def _key(self) -> list[int]:
        """The sort key: the number of the job or array, and its first index."""
        return [int(digits) for digits in re.findall("[0-9]+", self._value)[:2]]


class Time(FormattableColumn):
    """A time of the API; people see it to the second."""

    def human_readable(self):
        return instant(self._value)


class Elapsed(FormattableColumn):
    """Seconds, shown as hours, minutes and seconds."""

    def human_readable(self):
        return clock(self._value)


class Expected(FormattableColumn):
    """A time that is expected; people see the interval that holds it with a chance of 80 %, too.

    :param times: `at`, and `low` and `high`, which may be None.
    """

    def __init__(self, times: dict):
        super().__init__(times["at"])
        self._times = times

    def human_readable(self):
        return expected(**self._times)


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
            f"{instant(event['at'])} {event['kind']}{_of(event)}"
            + (f": {event['detail']}" if event["detail"] else "")
            for event in self._value
        )


class AskedBy(FormattableColumn):
    """The user who asked for an event."""

    def human_readable(self):
        return _name(self._value)

    def machine_readable(self):
        return self._value["user_id"]


class Servers(FormattableColumn):
    """The servers of a job, one per line: tier, host and addresses, if they are known."""

    def human_readable(self):
        shown = [_server(server) for server in self._value[:MOST_SERVERS]]
        more = len(self._value) - MOST_SERVERS
        return "\n".join([*shown, *([f"and {more:,} more: see -f json"] if more > 0 else [])])


class Webhook(FormattableColumn):
    """Where the events of a job are posted, and what is still to come."""

    def human_readable(self):
        count, error = self._value["undelivered"], self._value["error"]
        behind = f", {count} to come" if count else ""
        return self._value["origin"] + behind + (f": {error}" if error else "")


class Dependencies(FormattableColumn):
    """A job's dependencies, in the words of the options of `job create`."""

    def human_readable(self):
        return ", ".join(
            f"{each['condition']} {'array ' if each.get('array') else ''}{awaited(each)}"
            + (" (met)" if each["met_at"] else "")
            for each in self._value
        )


class InArray(FormattableColumn):
    """The array of a task, with its index there."""

    def human_readable(self):
        return f"{self._value['number']}_{self._value['index']}"


class History(FormattableColumn):
    """A run time predicted from similar finished jobs."""

    def human_readable(self):
        time = Elapsed(self._value["seconds"]).human_readable()
        return f"{time} (from {counted(self._value['similar_jobs'], 'similar job')})"


class Why(FormattableColumn):
    """A reason for programs; people see its code."""

    def human_readable(self):
        return self._value["code"]


class Text(FormattableColumn):
    """A reason for programs; people see its text."""

    def human_readable(self):
        return self._value["text"]


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


def instant(time: str) -> str:
    """A time of the API to the second: `2026-11-25T03:10:29Z`."""
    return f"{time[:19]}Z"


def expected(at: str, low: str | None, high: str | None) -> str:
    """`2026-11-25T03:10:29Z (02:55:00 to 03:40:00, 80 %)`, with dates if those differ."""
    if not (low and high):
        return instant(at)
    same = at[:10] == low[:10] == high[:10]
    low, high = (each[11:19] if same else instant(each) for each in (low, high))
    return f"{instant(at)} ({low} to {high}, 80 %)"


def held(record: dict) -> str:
    """How often intervals have held: `held for 83 of the last 100 jobs`."""
    if not record["of"]:
        return "too few jobs have ended yet to give an interval"
    return f"held for {record['held']} of the last {counted(record['of'], 'job')}"


def with_expectations(item: dict) -> dict:
    """A job or an explanation, with its predicted times renamed to `expected_...`.

    The times themselves are mappings that have their intervals, too, see `Expected`.
    """
    fields: dict = {}
    for name, value in item.items():
        new = _PREDICTED.sub("expected", name)
        if new in ("expected_start", "expected_finish") and value is not None:
            value = {"at": value, "low": item[f"{name}_low"], "high": item[f"{name}_high"]}
        fields[new] = value
    return fields


def _of(event: dict) -> str:
    """The words " by USER" for an event that a user asked for; none for a submission."""
    asked = event.get("asked_by")
    return f" by {_name(asked)}" if asked and event["kind"] != "submitted" else ""


def _name(asked: dict) -> str:
    return asked["user_id"] or "an operator"


def _server(server: dict) -> str:
    slot = f"{'was ' if server['until'] else ''}{server['tier']}"
    host = f" on {server['host']}" if "host" in server else ""
    addresses = server.get("addresses") or []
    return ", ".join([f"{server['name']}: {slot}{host}", *addresses, server["uuid"]])


def amount(value: float | None, width: int) -> Shown:
    """A number aligned to the right of its column; a dash for None."""
    return Shown(value, f"{'-' if value is None else value:>{width}}")


#: Beginning of the names of times that are expected.
_PREDICTED = re.compile("^predicted(?=_start|_finish)")
#: Fields with a time whose names do not end in `_at`.
_TIMES = {"at", "run_since", *INTERVALS}
#: Fields with seconds.
_DURATIONS = ("estimate", "queue_offset", "run_before", "walltime")
#: Fields that are shown in a form of their own.
_CELLS: dict[str, type[FormattableColumn]] = {
    "array": InArray,
    "asked_by": AskedBy,
    "dependencies": Dependencies,
    "estimate_from_history": History,
    "events": Events,
    "expected_finish": Expected,
    "expected_start": Expected,
    "manager": Manager,
    "predicted_start": Time,
    "predictions": Records,
    "servers": Servers,
    "webhook": Webhook,
    "unblock": Text,
    "unpredicted": Text,
    "why": Why,
}


def cell(name: str, value):
    """A field of the API, formatted if necessary; None if it has no value."""
    if value is None and name != "predictions":
        return None
    if name.endswith("_at") or name in _TIMES:
        return Time(value)
    if name.endswith("elapsed") or name in _DURATIONS:
        return Elapsed(value)
    if name == "networks" and isinstance(value, str):
        return Words([value])  # one of the words that Nova takes instead
    if name.endswith("cpu") and isinstance(value, list):
        return Cpu(value)
    if name in _CELLS:
        return _CELLS[name](value)
    return Words(value) if isinstance(value, list | dict) else value


def row(columns: dict[str, str], item: dict) -> tuple:
    """An item as a row: a missing field is None, and a reason is shown by its code."""
    special = {name: number_cell(item, name) for name in ("number", "job_number")}
    special["why"] = (item.get("why") or {}).get("code")
    return tuple(
        special[field] if field in special else cell(field, item.get(field))
        for field in columns.values()
    )


def number(item: dict, field: str = "number") -> str | None:
    """The number by which commands know a job: `12`, a task `12_3`, waiting tasks `12_[4-99%8]`.

    :param field: that has the number of the job itself; None without one.
    """
    if array := item.get("array"):
        waiting = item.get("waiting")
        return f"{array['number']}_" + (f"[{waiting}]" if waiting else str(array["index"]))
    found = item.get(field)
    return None if found is None else str(found)


def awaited(dependency: dict) -> str:
    """The job, array or task of a dependency, as commands take it: `12` or `12_3`."""
    # An API of an earlier release does not say of which array it is a task.
    return str(number({"number": dependency["number"], "array": dependency.get("task")}))


def number_cell(item: dict, field: str) -> Number | None:
    """The number of a job, as a cell of a list."""
    found = number(item, field)
    return found and Number(found)


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
