"""Stores the utilisation and the queue length of pools over time, in a bounded number of rows.

The leader of a pool takes a sample a minute. It is added to the interval of each resolution in
`KEPT`, and intervals that are older than their resolution is kept are deleted: about 12,500 rows a
pool, whatever time passes. Nothing in them is about a single job, host or project.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from sqlalchemy import case, delete, func, select, update
from sqlalchemy.orm import Session

from nova_twotier.db.models import Utilisation
from nova_twotier.db.store import rows_changed

MINUTE, HOUR, DAY = 60, 3600, 86400
#: How long intervals are kept, by their length; in seconds. Each length is a multiple of the one
#: before it. Windows of a day, two weeks and a year find the whole of their first interval.
KEPT = {MINUTE: 25 * HOUR, 10 * MINUTE: 15 * DAY, HOUR: 366 * DAY}
FINEST, COARSEST = min(KEPT), max(KEPT)
#: Lengths of the intervals that are shown; then ever twice as long. Rows are joined to them.
WIDTHS = tuple(
    minutes * MINUTE for minutes in (1, 2, 5, 10, 20, 30, 60, 120, 180, 360, 720, 24 * 60)
)
#: The largest peak that is stored: a 32-bit integer, except on SQLite.
MOST = 2**31 - 1
#: Seconds. The present state of a pool is a sample that is no older.
PRESENT = 5 * MINUTE


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The state of a pool at one moment.

    Of each tier: all places for VMs, those that VMs hold, and those that VMs can claim now.

    :param lost: slot-seconds whose work was lost since the sample before.
    """

    fg_slots: int
    fg_used: int
    fg_free: int
    bg_slots: int
    bg_used: int
    bg_free: int
    waiting_jobs: int
    running_jobs: int
    waiting_processes: int
    running_processes: int
    lost: float


LOST = "lost"
#: Of these there are sums over the samples.
COUNTS = tuple(each.name for each in fields(Sample) if each.name != LOST)
#: Of these there is the largest value, too.
PEAKS = ("fg_used", "bg_used", "waiting_jobs", "waiting_processes")


class Window(NamedTuple):
    """The span to show, in whole intervals.

    :param begin, end: of all, in seconds since the epoch: multiples of the width.
    :param width: of each, in seconds.
    :param step: the resolution of the rows that are joined.
    """

    begin: int
    end: int
    width: int
    step: int


@dataclass(frozen=True)
class Interval:
    """What one or several pools were like in an interval.

    :param seconds: of the interval in which samples were taken.
    :param means: by the names in `COUNTS`.
    :param peaks: by the names in `PEAKS`; of several pools, the sum of their largest values.
    :param lost: slot-seconds.
    """

    at: int
    seconds: int
    means: Mapping[str, float]
    peaks: Mapping[str, int]
    lost: float


class History(NamedTuple):
    """
    :param pools: those with samples in the window.
    :param intervals: in order; one is missing if a pool that had samples before has none in it.
    """

    pools: list[str]
    intervals: list[Interval]


def add(session: Session, pool: str, at: float, sample: Sample) -> None:
    """Add a sample that was taken at this time."""
    values = asdict(sample)
    for step in KEPT:
        key = {"step": step, "at": int(at) // step * step, "pool": pool}
        known = update(Utilisation).where(*(getattr(Utilisation, n) == v for n, v in key.items()))
        sums = {name: getattr(Utilisation, name) + value for name, value in values.items()}
        if not rows_changed(
            session, known.values(samples=Utilisation.samples + 1, **sums, **_peaks(values))
        ):
            peaks = {f"most_{name}": min(values[name], MOST) for name in PEAKS}
            session.add(Utilisation(**key, samples=1, **values, **peaks))
    session.flush()


def _peaks(values: Mapping[str, Any]) -> dict[str, Any]:
    """SQL for the peaks of an interval after one more sample."""
    found = {}
    for name in PEAKS:
        most, value = getattr(Utilisation, f"most_{name}"), min(values[name], MOST)
        found[most.key] = case((most < value, value), else_=most)
    return found


def expire(session: Session, now: float) -> None:
    """Delete the intervals that are no longer kept, of all pools, also of those that are gone."""
    for step, seconds in KEPT.items():
        old = Utilisation.step == step, Utilisation.at < int(now) - seconds
        session.execute(delete(Utilisation).where(*old))


def window(begin: float, end: float, points: int, now: float) -> Window:
    """Choose the shortest intervals that are kept and cover a span with at most `points` of them.

    :param points: at least 2, since the span may begin just before the end of an interval.
    """
    for width in _widths():
        step = max(each for each in KEPT if width % each == 0)
        first, last = int(begin // width), int(-(-end // width))
        kept = step == COARSEST or begin >= now - KEPT[step]
        if kept and last - first <= points:
            break
    return Window(first * width, last * width, width, step)


def _widths() -> Iterator[int]:
    yield from WIDTHS
    width = WIDTHS[-1]
    while True:
        width *= 2
        yield width


def read(session: Session, pools: Collection[str], shown: Window) -> History:
    """The sums over these pools, by interval."""
    since = (Utilisation.at - Utilisation.at % shown.width).label("since")
    counts = (func.sum(getattr(Utilisation, name)).label(name) for name in ("samples", *COUNTS))
    mosts = (f"most_{name}" for name in PEAKS)
    query = select(
        *(since, Utilisation.pool, func.sum(Utilisation.lost).label(LOST), *counts),
        *(func.max(getattr(Utilisation, name)).label(name) for name in mosts),
    )
    query = query.where(*_at(shown.step, shown.begin, pools), Utilisation.at < shown.end)
    found: dict[int, dict[str, Interval]] = {}
    first: dict[str, int] = {}
    for row in session.execute(query.group_by("since", Utilisation.pool).order_by("since")):
        at = int(row.since)
        found.setdefault(at, {})[row.pool] = _interval(at, shown.step, row)
        first.setdefault(row.pool, at)
    # Sums without a pool whose manager was away would look like those of a smaller cloud.
    whole = (
        _sum(of_pools.values())
        for at, of_pools in found.items()
        if all(pool in of_pools for pool, begin in first.items() if begin <= at)
    )
    return History(sorted(first), list(whole))


def latest(session: Session, pools: Collection[str], end: float) -> Interval | None:
    """The sum of the pools' last samples before a time; None if a pool has no recent one."""
    since = int(end) - PRESENT
    query = select(Utilisation).where(*_at(FINEST, since, pools), Utilisation.at < end)
    found = {
        row.pool: _interval(row.at, FINEST, row)
        for row in session.scalars(query.order_by(Utilisation.at))
    }
    return _sum(found.values()) if pools and set(pools) == found.keys() else None


def summary(intervals: Collection[Interval]) -> Interval | None:
    """What all intervals of a history have in common: their means, peaks, and sum of lost work."""
    if not intervals:
        return None
    seconds = sum(each.seconds for each in intervals)
    return Interval(
        at=min(each.at for each in intervals),
        seconds=seconds,
        means={
            name: sum(each.means[name] * each.seconds for each in intervals) / seconds
            for name in COUNTS
        },
        peaks={name: max(each.peaks[name] for each in intervals) for name in PEAKS},
        lost=sum(each.lost for each in intervals),
    )


def state(session: Session, pools: Collection[str], shown: Window, now: float) -> tuple:
    """A fingerprint of what is read of a window: it differs when that has changed."""
    query = select(Utilisation.at, Utilisation.pool, Utilisation.samples)
    query = query.where(*_at(FINEST, int(min(now, shown.end)) - PRESENT, pools))
    rows = session.execute(query.order_by(Utilisation.at, Utilisation.pool))
    # What is deleted at the begin of the window.
    kept = max(shown.begin, int(now) - KEPT[shown.step]) // shown.step
    return (*shown, kept, *map(tuple, rows))


def _at(step: int, since: int, pools: Collection[str]) -> tuple:
    return (
        Utilisation.step == step,
        Utilisation.at >= since,
        Utilisation.pool.in_(sorted(set(pools))),
    )


def _interval(at: int, step: int, row: Any) -> Interval:
    # Sums of whole numbers are decimals in some databases.
    samples = int(row.samples)
    return Interval(
        at=at,
        seconds=samples * MINUTE,
        means={name: int(getattr(row, name)) / samples for name in COUNTS},
        peaks={name: int(getattr(row, f"most_{name}")) for name in PEAKS},
        lost=row.lost,
    )


def _sum(intervals: Iterable[Interval]) -> Interval:
    """The sum of the intervals of several pools."""
    each = list(intervals)
    return Interval(
        at=min(one.at for one in each),
        seconds=min(one.seconds for one in each),
        means={name: sum(one.means[name] for one in each) for name in COUNTS},
        peaks={name: sum(one.peaks[name] for one in each) for name in PEAKS},
        lost=sum(one.lost for one in each),
    )
