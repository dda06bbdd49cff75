"""How full each slot was over time, in both tiers: for schedules of too many stays to draw."""

import math
from dataclasses import dataclass

import numpy
import pandas

from nova_twotier.sim.plots import palette, window, words
from nova_twotier.sim.plots.timed import Timed

#: A picture has as many cells at most: more could not be told apart.
ROWS, COLUMNS = 256, 900


@dataclass(frozen=True, slots=True)
class Tier:
    """A tier: its processes at a time in each cell, per slot (or host), on average over the cell.

    :param cells: a row for each row of the chart, a column for each part of its time.
    """

    name: str
    colour: str
    cells: numpy.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart(Timed):
    """Everything to draw.

    :param slots: from top to bottom; each row has `group` of them, the last one perhaps fewer.
    :param tiers: the foreground and, if anything ran there, the background.
    """

    slots: range
    group: int
    tiers: tuple[Tier, ...]
    hosts: tuple[str, ...] = ()

    @property
    def part(self) -> float:
        """Seconds of a column."""
        return (self.end - self.begin) / COLUMNS

    @property
    def row(self) -> str:
        return "host" if self.hosts else "slot"

    @property
    def note(self) -> str:
        name, second = words.unit(self.part)
        cell = f"each cell is the mean over {self.part / second:.2g} {name}"
        if self.group > 1:
            cell += f" and {self.group} {self.row}s"
        return f"{self.row}s: {len(self.slots)}; {cell}"

    def top(self, tier: Tier) -> int:
        """The value of the darkest colour: 1 is a slot that is always in use."""
        return max(1, math.ceil(round(float(tier.cells.max()), 6)))

    def scale(self, tier: Tier) -> str:
        """What the colours stand for."""
        if self.top(tier) == 1 and not self.hosts:
            return f"{tier.name}: share of the time in use"
        return f"{tier.name}: processes at a time on a {self.row}"

    def in_use(self, tier: Tier) -> numpy.ndarray:
        """Processes of a tier at a time on all slots, in each column."""
        return self.sizes @ tier.cells

    @property
    def sizes(self) -> numpy.ndarray:
        """Slots of each row."""
        return _sizes(len(self.slots), self.group)

    @property
    def edges(self) -> numpy.ndarray:
        """Times (seconds) between which the columns are."""
        return numpy.linspace(self.begin, self.end, COLUMNS + 1)

    def label(self, row: int) -> str:
        """The name of a row: that of its first slot."""
        slot = self.slots[row * self.group]
        return self.hosts[slot] if self.hosts else str(slot)


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
    :raises files.PlotError: if it is not a schedule, or nothing runs in the window.
    """
    shown = window.cut(schedule, begin=begin, end=end, slots=slots)
    group = math.ceil(len(shown.slots) / ROWS)
    front = shown.stays["tier"] == "fg"
    tiers = [Tier("foreground", palette.FOREGROUND, _cells(shown, front, group))]
    if not front.all():
        tiers.append(Tier("background", palette.BACKGROUND, _cells(shown, ~front, group)))
    return Chart(
        title=title,
        begin=shown.begin,
        end=shown.end,
        dated=dated,
        slots=shown.slots,
        hosts=hosts,
        group=group,
        tiers=tuple(tiers),
    )


def _sizes(slots: int, group: int) -> numpy.ndarray:
    sizes = numpy.full(math.ceil(slots / group), float(group))
    sizes[-1] = slots - group * (len(sizes) - 1)
    return sizes


def _cells(shown: window.Cut, tier: pandas.Series, group: int) -> numpy.ndarray:
    """The time that the stays of a tier spend in each cell, per slot, as a part of the cell."""
    stays = shown.stays[tier]
    sizes = _sizes(len(shown.slots), group)
    width = (shown.end - shown.begin) / COLUMNS
    row = (stays["slot"].to_numpy() - shown.slots[0]) // group
    begin, end = ((stays[name].to_numpy() - shown.begin) / width for name in ("begin", "end"))
    first, last = (numpy.clip(time.astype(int), 0, COLUMNS - 1) for time in (begin, end))
    # One cell more a row, for changes after the last column.
    shape = len(sizes), COLUMNS + 1

    def added(column: numpy.ndarray, values: numpy.ndarray) -> numpy.ndarray:
        flat = numpy.bincount(row * shape[1] + column, values, shape[0] * shape[1])
        return flat.reshape(shape)

    ones = numpy.ones(len(stays))
    # A stay fills all from its first column to its last, but for what lies before and after it.
    full = numpy.cumsum(added(first, ones) - added(last + 1, ones), axis=1)
    outside = added(first, begin - first) + added(last, last + 1 - end)
    return numpy.maximum((full - outside)[:, :COLUMNS], 0.0) / sizes[:, None]
