"""The Gantt chart of a recorded schedule: of the simulator, or of the queue manager."""

from collections import Counter

import pandas

from nova_twotier.sim.plots import gantt, stays, window
from nova_twotier.sim.plots.files import PlotError
from nova_twotier.sim.plots.lanes import Host
from nova_twotier.sim.plots.stays import Stay

#: As many bars can be read, or at least told apart, in one chart.
READABLE = 5_000
#: More bars than this are not drawn: the page would have 15 MB, which is slow to open.
MOST = 50_000


def of(
    schedule: pandas.DataFrame,
    *,
    begin: float | None = None,
    end: float | None = None,
    slots: tuple[int, int] | None = None,
    title: str = "Schedule",
    hosts: tuple[str, ...] = (),
    dated: bool = False,
) -> gantt.Chart:
    """The chart of a window; `begin`, `end` and `slots` as for `window.cut`.

    :param hosts: names of the slots, if they are hosts; then `lane`, if the table has that column,
        is the number of the slot in its tier.
    :param dated: whether times count from the epoch.
    :raises PlotError: if it is not a schedule, nothing runs in the window, or too many bars or
        rows would be drawn.
    """
    shown = window.cut(schedule, begin=begin, end=end, slots=slots)
    if len(shown.stays) > MOST:
        raise PlotError(
            f"{len(shown.stays):,} bars are too many for a chart, which may have {MOST:,}; name a "
            "smaller window with --begin, --end and --slots, or draw their --density"
        )
    if len(shown.slots) > MOST:
        raise PlotError(
            f"{len(shown.slots):,} rows are too many for a chart, which may have {MOST:,}; name "
            "fewer --slots, or draw their --density"
        )
    bars = _stays(schedule, shown, hosts)
    rows = [hosts[slot] if hosts else str(slot) for slot in shown.slots]
    lanes = _shapes(bars, rows) if hosts else _alike(bars, rows, schedule)
    return gantt.Chart(
        title=title,
        begin=shown.begin,
        end=shown.end,
        dated=dated,
        layout=gantt.layout(lanes),
        stays=bars,
        row="host" if hosts or lanes[0].slots > 1 else "slot",
    )


def _stays(schedule: pandas.DataFrame, shown: window.Cut, hosts: tuple[str, ...]) -> list[Stay]:
    """The stays in a window, with lanes and ends."""
    # What ended a stay may be outside of the window.
    jobs = schedule[schedule["job"].isin(shown.stays["job"].unique())]
    fields = (jobs[name].tolist() for name in ("job", "process", "slot", "tier", "begin", "end"))
    every = [
        Stay(job, process, hosts[slot] if hosts else str(slot), tier, begin, end)
        for job, process, slot, tier, begin, end in zip(*fields, strict=True)
    ]
    explained = dict(zip(jobs.index, stays.explained(every), strict=True))
    found = [explained[index].cut(shown.begin, shown.end) for index in shown.stays.index]
    lanes = shown.stays.get("lane")
    # An earlier release did not record them.
    if lanes is None or lanes.isna().any():
        return stays.numbered(found, None if hosts else _slots(found))
    return [stay._replace(number=int(lane)) for stay, lane in zip(found, lanes, strict=True)]


def _slots(found: list[Stay]) -> dict[str, int]:
    """The slots of each row: one, or as many stays as overlap in the foreground.

    A process that comes to the foreground keeps the number of its lane only if it is one of these.
    """
    slots = dict.fromkeys((stay.host for stay in found), 1)
    for stay in stays.numbered(stay for stay in found if stay.front):
        slots[stay.host] = max(slots[stay.host], stay.number + 1)
    return slots


def _shapes(bars: list[Stay], names: list[str]) -> list[Host]:
    """As many slots a host as were held at least; the board does the same if it knows no more."""
    slots = Counter[str]()
    for stay in bars:
        slots[stay.host] = max(slots[stay.host], stay.number + 1)
    return [Host(name, max(1, slots[name]), 2) for name in names]


def _alike(bars: list[Stay], names: list[str], schedule: pandas.DataFrame) -> list[Host]:
    """One slot a row, or as many as stays overlap in the foreground, with as many tiers as are
    needed."""
    front = max((stay.number + 1 for stay in bars if stay.front), default=1)
    back = max((stay.number + 1 for stay in bars if not stay.front), default=1)
    tiers = 1 + -(-back // front) if (schedule["tier"] == "bg").any() else 1
    return [Host(name, front, tiers) for name in names]
