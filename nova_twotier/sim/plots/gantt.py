"""The Gantt chart of both tiers: what to draw, nothing of how."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pandas

from nova_twotier.sim.plots import palette
from nova_twotier.sim.plots.files import PlotError
from nova_twotier.sim.plots.timed import Timed

COLUMNS = ("job", "process", "slot", "tier", "begin", "end")
#: As many bars can be read, or at least told apart, in one chart.
READABLE = 5_000
#: More bars than this are not drawn: the page would have 15 MB, which is slow to open.
MOST = 50_000
#: Parts of a slot's unit of height: the foreground lane, and all background lanes below it.
FOREGROUND = 0.53
BACKGROUND = 0.41


@dataclass(frozen=True, slots=True)
class Bar:
    """A stay of a process on a slot; stays that overlap in a tier have different lanes, from 0."""

    job: int
    process: int
    slot: int
    front: bool
    lane: int
    begin: float
    end: float

    @property
    def colour(self) -> str:
        return palette.job(self.job)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart(Timed):
    """Everything to draw; times are clipped to the window."""

    #: Slots from top to bottom, and the names of hosts that stand for their numbers.
    slots: tuple[int, ...]
    hosts: tuple[str, ...] = ()
    #: Lanes a slot in the foreground, and in the background.
    fronts: int
    backs: int
    bars: tuple[Bar, ...]

    @property
    def row(self) -> str:
        """What a row is: with several foreground lanes, it is more than a slot."""
        return "slot" if self.fronts == 1 and not self.hosts else "host"

    def label(self, slot: int) -> str:
        """The name of a row."""
        return self.hosts[slot] if self.hosts else str(slot)

    @property
    def note(self) -> str:
        jobs = len({bar.job for bar in self.bars})
        return f"{self.row}s: {len(self.slots)}, jobs: {jobs}; numbers in the bars are job numbers"

    def box(self, bar: Bar) -> tuple[float, float]:
        """Upper edge and height of a bar; the n-th slot has the heights from n to n+1."""
        top = bar.slot - self.slots[0]
        if bar.front:
            height = FOREGROUND / self.fronts
        else:
            top += FOREGROUND
            height = BACKGROUND / self.backs
        return top + bar.lane * height, height

    def labelled(self) -> Iterator[Bar]:
        """One bar of each block of a job on slots side by side: the middle one has its number."""
        block = []
        for bar in sorted(self.bars, key=lambda b: (*_block(b), b.slot, b.lane)):
            if block and not _adjoin(block[-1], bar):
                yield block[len(block) // 2]
                block = []
            block.append(bar)
        if block:
            yield block[len(block) // 2]


class Cut(NamedTuple):
    """The stays in a window, clipped to it, and what the window is."""

    stays: pandas.DataFrame
    begin: float
    end: float
    slots: range


def of(
    schedule: pandas.DataFrame,
    *,
    begin: float | None = None,
    end: float | None = None,
    slots: tuple[int, int] | None = None,
    title: str = "Schedule",
    hosts: tuple[str, ...] = (),
    dated: bool = False,
) -> Chart:
    """The chart of a recorded schedule.

    :param begin: start of the window (seconds); the first begin by default.
    :param end: end of the window (seconds); the last end by default.
    :param slots: first and last slot; all by default.
    :param hosts: names of the slots, if they are hosts.
    :param dated: whether times count from the epoch.
    :raises PlotError: if it is not a schedule, nothing runs in the window, or too many bars would
        be drawn.
    """
    shown = cut(schedule, begin=begin, end=end, slots=slots)
    if len(shown.stays) > MOST:
        raise PlotError(
            f"{len(shown.stays):,} bars are too many for a chart, which may have {MOST:,}; name a "
            "smaller window with --begin, --end and --slots, or draw their --density"
        )
    bars = tuple(_bars(shown.stays))
    return Chart(
        title=title,
        begin=shown.begin,
        end=shown.end,
        dated=dated,
        slots=tuple(shown.slots),
        hosts=hosts,
        fronts=max((bar.lane + 1 for bar in bars if bar.front), default=1),
        backs=max((bar.lane + 1 for bar in bars if not bar.front), default=1),
        bars=bars,
    )


def cut(
    schedule: pandas.DataFrame,
    *,
    begin: float | None = None,
    end: float | None = None,
    slots: tuple[int, int] | None = None,
) -> Cut:
    """The stays in a window, by default all of them; parameters and errors as those of `of`."""
    check(schedule)
    begin = float(schedule["begin"].min()) if begin is None else begin
    end = float(schedule["end"].max()) if end is None else end
    first, last = slots or (int(schedule["slot"].min()), int(schedule["slot"].max()))
    shown = schedule[
        (schedule["begin"] < end)
        & (schedule["end"] > begin)
        & schedule["slot"].between(first, last)
        & (schedule["begin"] < schedule["end"])
    ]
    if shown.empty:
        raise PlotError(
            f"nothing runs on slots {first} to {last} from {begin:.15g} to {end:.15g} s"
        )
    shown = shown.assign(begin=shown["begin"].clip(lower=begin), end=shown["end"].clip(upper=end))
    return Cut(shown, begin, end, range(first, last + 1))


def check(schedule: pandas.DataFrame) -> None:
    """:raises PlotError: if it is not a recorded schedule with at least one stay."""
    missing = [column for column in COLUMNS if column not in schedule]
    if missing:
        raise PlotError(f"the table has no column {missing[0]!r}; it is not a schedule")
    if schedule.empty:
        raise PlotError("the schedule is empty")
    for column in ("begin", "end"):
        if not pandas.api.types.is_numeric_dtype(schedule[column]):
            raise PlotError(f"column {column!r} of the schedule has values that are no numbers")


def _bars(schedule: pandas.DataFrame) -> Iterator[Bar]:
    """Each stay in the first lane of its slot and tier that is free."""
    ordered = schedule.sort_values(["slot", "tier", "begin"])
    for (slot, tier), stays in ordered.groupby(["slot", "tier"], sort=False, observed=True):
        running = []  # (end, lane)
        free = []
        for stay in stays.itertuples():
            while running and running[0][0] <= stay.begin:
                heapq.heappush(free, heapq.heappop(running)[1])
            lane = heapq.heappop(free) if free else len(running)
            heapq.heappush(running, (stay.end, lane))
            yield Bar(stay.job, stay.process, slot, tier == "fg", lane, stay.begin, stay.end)


def _block(bar: Bar) -> tuple:
    """What the bars of a job on slots side by side have in common."""
    return bar.job, bar.front, bar.begin, bar.end


def _adjoin(one: Bar, other: Bar) -> bool:
    return other.slot <= one.slot + 1 and _block(one) == _block(other)
