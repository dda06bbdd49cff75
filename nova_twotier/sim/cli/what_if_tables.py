"""The tables that `what-if` prints."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from cliff.columns import FormattableColumn

from nova_twotier.core.prediction.calibration import Interval
from nova_twotier.core.queue_state import QueueState
from nova_twotier.sim import what_if
from nova_twotier.sim.what_if import Expected

#: Rows about the jobs that a change affects most.
AFFECTED = 3
#: Hosts of a job that are named; of more, only how many there are.
NAMED = 4

#: The columns of `summary`, and of `by_job`.
SUMMARY = ("what", "before", "after")
JOBS = (
    *("job", "size", "state", "start_before", "start_after", "start_low", "start_high"),
    *("starts_on", "end_before", "end_after", "end_low", "end_high"),
)

Case = tuple[QueueState, Mapping[int, Expected]]
Rows = tuple[Sequence[str], list[tuple]]


class Span(FormattableColumn):
    """Seconds: in words for people, a number for machines; None if there are none, or never."""

    def human_readable(self) -> str:
        return "-" if self._value is None else span(self._value)

    def machine_readable(self):
        value = self._value
        return None if value is None or not math.isfinite(value) else round(value, 3)


class Between(FormattableColumn):
    """An interval; for machines a list of its two ends, or None if it is not known."""

    def human_readable(self) -> str:
        if self._value is None:
            return "-"
        low, high = self._value
        return f"{span(low)} to {span(high)}"

    def machine_readable(self):
        return None if self._value is None else [round(end, 3) for end in self._value]


def span(seconds: float) -> str:
    """`2 d 03 h`, `1 h 05 min`, `12 min 30 s`, `45 s` or `never`; `-` of NaN."""
    if not math.isfinite(seconds):
        return "never" if seconds == math.inf else "-"
    whole = round(seconds)
    for unit, size, part, smaller in (
        ("d", 86400, "h", 3600),
        ("h", 3600, "min", 60),
        ("min", 60, "s", 1),
    ):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // smaller:02} {part}"
    return f"{whole} s"


def summary(before: Case, after: Case, added: Iterable[int]) -> Rows:
    """A row for each question, with the answer before and after."""
    first, second = before[1], after[1]
    outlook = what_if.outlooks([first, second])
    moved = what_if.shift(first, second)
    rows = [
        ("policy", before[0].policy, after[0].policy),
        ("slots", before[0].slots, after[0].slots),
        ("jobs that wait", len(before[0].waiting), len(after[0].waiting)),
        ("mean wait of those", *(Span(each.wait) for each in outlook)),
        ("longest wait of those", *(Span(each.longest_wait) for each in outlook)),
        ("mean turnaround of all jobs", *(Span(each.turnaround) for each in outlook)),
        ("jobs that never end", *(each.never for each in outlook)),
        ("jobs that start sooner", None, moved.start_sooner),
        ("jobs that start later", None, moved.start_later),
        ("jobs that end sooner", None, moved.end_sooner),
        ("jobs that end later", None, moved.end_later),
    ]
    for number in added:
        rows += _new(second[number])
    for number in what_if.most_affected(first, second, AFFECTED):
        rows.append(
            (f"job {number} ends in", Span(first[number].finish), Span(second[number].finish))
        )
    return SUMMARY, [tuple(map(_cell, row)) for row in rows]


def _new(job: Expected) -> list[tuple]:
    what = f"new job {job.number}"
    return [
        (f"{what} starts in", None, Span(job.start)),
        (f"{what} starts, 80 % interval", None, Between(job.start_interval)),
        (f"{what} starts on", None, places(job)),
        (f"{what} ends in", None, Span(job.finish)),
        (f"{what} ends, 80 % interval", None, Between(job.finish_interval)),
    ]


def places(job: Expected) -> str | None:
    """`fg on node1 (2), node3`, or `bg on 17 hosts`; None if it is not known."""
    if job.tier is None:
        return None
    hosts = Counter(job.hosts)
    if len(hosts) > NAMED:
        return f"{job.tier} on {len(hosts)} hosts"
    named = (f"{host} ({count})" if count > 1 else host for host, count in hosts.items())
    return f"{job.tier} on {', '.join(named)}"


def by_policy(
    state: QueueState,
    before: Mapping[int, Expected],
    found: Mapping[str, Mapping[int, Expected]],
    added: Sequence[int],
) -> Rows:
    """A row for each policy, the best first, after one for the queue as it is."""
    outlooks = what_if.outlooks([before, *found.values()])
    rows = []
    for (name, expected), outlook in zip(found.items(), outlooks[1:], strict=True):
        moved = what_if.shift(before, expected)
        ends = [Span(expected[number].finish) for number in added]
        starts = [Span(expected[number].start) for number in added]
        news = [each for pair in zip(starts, ends, strict=True) for each in pair]
        counts = (outlook.never, moved.end_sooner, moved.end_later)
        rows.append((outlook.never, outlook.turnaround, (name, *_spans(outlook), *counts, *news)))
    rows.sort(key=lambda row: row[:2])
    now = (f"{state.policy} (as it is)", *_spans(outlooks[0]), outlooks[0].never)
    columns = ["policy", "mean_wait", "longest_wait", "mean_turnaround", "never"]
    columns += ["end_sooner", "end_later"]
    for number in added:
        columns += [f"job_{number}_start", f"job_{number}_end"]
    gaps = (None,) * (len(columns) - len(now))
    return columns, [tuple(map(_cell, row)) for row in ((*now, *gaps), *(row for *_, row in rows))]


def _spans(outlook: what_if.Outlook) -> tuple[Span, ...]:
    return Span(outlook.wait), Span(outlook.longest_wait), Span(outlook.turnaround)


def by_job(before: Mapping[int, Expected], after: Mapping[int, Expected]) -> Rows:
    """A row for each job, before and after the changes."""
    rows = []
    for number in sorted(before.keys() | after.keys()):
        old, new = before.get(number), after.get(number)
        job = new or old
        state = "new" if old is None else "running" if old.running else "waiting"
        rows.append(
            (
                *(number, job.size, state if new else "gone"),
                *(Span(each and each.start) for each in (old, new)),
                *_ends_of(new and new.start_interval),
                places(job),
                *(Span(each and each.finish) for each in (old, new)),
                *_ends_of(new and new.finish_interval),
            )
        )
    return JOBS, [tuple(map(_cell, row)) for row in rows]


def _ends_of(interval: Interval | None) -> tuple[Span | None, Span | None]:
    return (None, None) if interval is None else (Span(interval.low), Span(interval.high))


class Absent(FormattableColumn):
    """Nothing to say."""

    def human_readable(self) -> str:
        return "-"


def _cell(value):
    return Absent(None) if value is None else value
