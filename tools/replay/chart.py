"""What both Gantt charts draw, but not how: lines, bars, marks and colours."""

import colorsys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nova_twotier.core.actions import Tier
from nova_twotier.ledger.tree import Shape
from nova_twotier.tools.replay.lanes import Lane, assign, lanes
from nova_twotier.tools.replay.player import Player, QueueLength
from nova_twotier.tools.replay.recorder import Interval, Kind

#: The part of the hue circle between neighbours in number: the golden ratio keeps them far apart.
GOLDEN = 0.618034
#: Lightness and saturation alternate as well, so that near hues differ.
SHADES = ((0.50, 0.68), (0.64, 0.60), (0.40, 0.52))
#: Vertical room between slots and between hosts, in lines.
SLOT_GAP = 0.35
HOST_GAP = 0.9


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign in the chart: name for the legend, and the signs of matplotlib and plotly."""

    name: str
    matplotlib: str
    plotly: str
    colour: str


EVICT = Mark("evicted (shelved)", "X", "x", "#d40000")
RESTORE = Mark("restored", "P", "cross", "#0a8f2a")
SWAP_UP = Mark("swap to foreground", "^", "triangle-up", "#111111")
SWAP_DOWN = Mark("swap to background", "v", "triangle-down", "#111111")
MIGRATE = Mark("live migration", "D", "diamond", "#7a00cc")
MARKS = (SWAP_UP, SWAP_DOWN, MIGRATE, EVICT, RESTORE)


@dataclass(frozen=True, slots=True)
class Label:
    """What the chart says of a job."""

    name: str
    size: int
    cpu: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything to draw; times in wall seconds since the replay began."""

    title: str
    shapes: Mapping[str, Shape]
    bars: Sequence[tuple[Interval, Lane]]
    labels: Mapping[int, Label]
    waiting: Sequence[QueueLength]
    end: float
    speedup: float

    def heights(self) -> dict[Lane, float]:
        """The y of each line, from 0 downwards."""
        heights = {}
        y = 0.0
        last = None
        for lane in lanes(self.shapes):
            if last and last.host != lane.host:
                y += HOST_GAP
            elif last and last.slot != lane.slot:
                y += SLOT_GAP
            heights[lane] = y
            y += 1
            last = lane
        return heights

    def hosts(self) -> dict[str, tuple[float, float]]:
        """First and last y of each host."""
        heights = self.heights()
        spans = {}
        for lane, y in heights.items():
            first, _last = spans.get(lane.host, (y, y))
            spans[lane.host] = first, y
        return spans

    def marks(self) -> dict[Mark, list[tuple[float, float, Interval]]]:
        """Time, y and interval of each mark."""
        heights = self.heights()
        found = {mark: [] for mark in MARKS}
        for interval, lane in self.bars:
            y = heights[lane]
            if mark := _arrival(interval):
                found[mark].append((interval.begin, y, interval))
            if interval.left is Kind.EVICT:
                found[EVICT].append((interval.end, y, interval))
        return found


def _arrival(interval: Interval) -> Mark | None:
    match interval.came:
        case Kind.SWAP:
            return SWAP_UP if interval.tier is Tier.FG else SWAP_DOWN
        case Kind.MIGRATE:
            return MIGRATE
        case Kind.RESTORE:
            return RESTORE
    return None


def colour(number: int) -> str:
    """The colour of a job: always the same for the same number."""
    lightness, saturation = SHADES[number % len(SHADES)]
    red, green, blue = colorsys.hls_to_rgb(number * GOLDEN % 1.0, lightness, saturation)
    return "#" + "".join(f"{round(255 * part):02x}" for part in (red, green, blue))


def of(player: Player, title: str, shapes: Mapping[str, Shape]) -> Chart:
    """The chart of a replay that is over."""
    return Chart(
        title=title,
        shapes=shapes,
        bars=assign(player.recorder.intervals, shapes),
        labels={
            entry.number: Label(entry.job.name, entry.size, entry.job.cpu)
            for entry in player.roster
        },
        waiting=player.queue_lengths,
        end=max(1.0, player.elapsed()),
        speedup=player.clock.speedup,
    )
