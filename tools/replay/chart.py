"""The Gantt chart of a replay: what Nova and Placement did, as it was sampled."""

from collections.abc import Iterable, Mapping

from nova_twotier.ledger.tree import Shape
from nova_twotier.sim.plots import gantt, stays
from nova_twotier.sim.plots.lanes import Host
from nova_twotier.sim.plots.stays import Stay
from nova_twotier.tools.replay.player import Player
from nova_twotier.tools.replay.recorder import Interval, Kind
from nova_twotier.tools.replay.roster import Roster


def of(player: Player, title: str, shapes: Mapping[str, Shape]) -> gantt.Chart:
    """The chart of a replay that is over; times are wall seconds since it began."""
    end = max(1.0, player.elapsed())
    shown = numbered(player.recorder.intervals, shapes, end)
    return gantt.Chart(
        title=title,
        begin=0.0,
        end=end,
        clock="wall time",
        layout=gantt.layout(_hosts(shown, shapes)),
        stays=shown,
        row="host",
        about=dict(_about(player.roster)),
        waiting=[(length.at, length.jobs) for length in player.queue_lengths],
        speedup=player.clock.speedup,
    )


def numbered(intervals: Iterable[Interval], shapes: Mapping[str, Shape], end: float) -> list[Stay]:
    """The stays that were seen. Placement does not say which slot of a host a server holds."""
    last = {(each.job, each.process): each for each in sorted(intervals, key=lambda i: i.begin)}
    evicted = {each.job for each in last.values() if each.left is Kind.EVICT}
    seen = [
        Stay(each.job, each.process, each.host, each.tier, each.begin, _end(each, end))
        for each in intervals
    ]
    slots = {host: shape.slots for host, shape in shapes.items()}
    return stays.explained(stays.numbered(seen, slots), evicted)


def _end(interval: Interval, last: float) -> float:
    return last if interval.end is None else interval.end


def _hosts(shown: Iterable[Stay], shapes: Mapping[str, Shape]) -> list[Host]:
    """All hosts; one whose foreground was seen to be overfull gets more slots."""
    slots = {host: shape.slots for host, shape in shapes.items()}
    for stay in shown:
        if stay.front:
            slots[stay.host] = max(slots[stay.host], stay.number + 1)
    return [Host(host, slots[host], shape.tiers) for host, shape in shapes.items()]


def _about(roster: Roster):
    for entry in roster:
        for process, cpu in enumerate(entry.job.cpu):
            about = f"{entry.job.name}, {entry.size} processes; CPU {cpu:.2f}"
            yield (entry.number, process), about
