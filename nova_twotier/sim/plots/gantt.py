"""The Gantt chart of both tiers: what to draw, nothing of how."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import pandas

from nova_twotier.sim.plots import palette, words
from nova_twotier.sim.plots.files import PlotError

COLUMNS = ("job", "process", "slot", "tier", "begin", "end")
#: Parts of a slot's unit of height: the foreground lane, and all background lanes below it.
FOREGROUND = 0.53
BACKGROUND = 0.41


@dataclass(frozen=True, slots=True)
class Bar:
    """A stay of a process on a slot; lane 0 is the foreground's, the others the background's."""

    job: int
    process: int
    slot: int
    lane: int
    begin: float
    end: float

    @property
    def colour(self) -> str:
        return palette.job(self.job)


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything to draw; times in seconds, clipped to the window."""

    title: str
    begin: float
    end: float
    #: Slots from top to bottom.
    slots: tuple[int, ...]
    #: Background lanes a slot.
    depth: int
    bars: tuple[Bar, ...]

    @property
    def unit(self) -> tuple[str, float]:
        """The unit of the time axis, and the seconds in it."""
        return words.unit(self.end - self.begin)

    @property
    def note(self) -> str:
        jobs = len({bar.job for bar in self.bars})
        return f"{jobs} jobs on {len(self.slots)} slots; numbers in the bars are job numbers"

    def box(self, bar: Bar) -> tuple[float, float]:
        """Upper edge and height of a bar; the n-th slot has the heights from n to n+1."""
        top = bar.slot - self.slots[0]
        if bar.lane == 0:
            return top, FOREGROUND
        height = BACKGROUND / self.depth
        return top + FOREGROUND + (bar.lane - 1) * height, height

    def labelled(self) -> Iterator[Bar]:
        """One bar of each block of a job on slots side by side: the middle one has its number."""
        block = []
        for bar in sorted(self.bars, key=lambda b: (b.job, b.lane, b.begin, b.end, b.slot)):
            if block and not _adjoin(block[-1], bar):
                yield block[len(block) // 2]
                block = []
            block.append(bar)
        if block:
            yield block[len(block) // 2]


def of(
    schedule: pandas.DataFrame,
    *,
    begin: float | None = None,
    end: float | None = None,
    slots: tuple[int, int] | None = None,
    title: str = "Schedule",
) -> Chart:
    """The chart of a recorded schedule.

    :param begin: start of the window (seconds); the first begin by default.
    :param end: end of the window (seconds); the last end by default.
    :param slots: first and last slot; all by default.
    :raises PlotError: if it is not a schedule, or nothing runs in the window.
    """
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
        raise PlotError(f"nothing runs on slots {first} to {last} from {begin:g} to {end:g} s")
    bars = tuple(_clipped(bar, begin, end) for bar in _bars(shown))
    return Chart(
        title=title,
        begin=begin,
        end=end,
        slots=tuple(range(first, last + 1)),
        depth=max(1, max(bar.lane for bar in bars)),
        bars=bars,
    )


def check(schedule: pandas.DataFrame) -> None:
    """:raises PlotError: if it is not a recorded schedule with at least one stay."""
    missing = [column for column in COLUMNS if column not in schedule]
    if missing:
        raise PlotError(f"the table has no column {missing[0]!r}; it is not a schedule")
    if schedule.empty:
        raise PlotError("the schedule is empty")


def _bars(schedule: pandas.DataFrame) -> Iterator[Bar]:
    """Background stays on one slot get lanes so that none covers another."""
    for _slot, stays in schedule.sort_values(["slot", "begin"]).groupby("slot", sort=False):
        running = []  # (end, lane) of background stays
        free = []
        lanes = 0
        for stay in stays.itertuples():
            lane = 0
            if stay.tier != "fg":
                while running and running[0][0] <= stay.begin:
                    heapq.heappush(free, heapq.heappop(running)[1])
                if free:
                    lane = heapq.heappop(free)
                else:
                    lanes += 1
                    lane = lanes
                heapq.heappush(running, (stay.end, lane))
            yield Bar(int(stay.job), int(stay.process), int(stay.slot), lane, stay.begin, stay.end)


def _clipped(bar: Bar, begin: float, end: float) -> Bar:
    return Bar(bar.job, bar.process, bar.slot, bar.lane, max(bar.begin, begin), min(bar.end, end))


def _adjoin(one: Bar, other: Bar) -> bool:
    return other.slot == one.slot + 1 and (one.job, one.lane, one.begin, one.end) == (
        other.job,
        other.lane,
        other.begin,
        other.end,
    )
