"""The Gantt chart of both tiers, as on the board's timeline: what to draw, nothing of how."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nova_twotier.sim.plots import job_colours
from nova_twotier.sim.plots.lanes import Host, Layout, Sizes
from nova_twotier.sim.plots.stays import End, Stay
from nova_twotier.sim.plots.timed import Timed

#: Where each host has one slot, hosts need no more room than slots, and that is little.
SINGLE = Sizes(slot=2.0, host=0.0)
#: Between two lanes.
HAIR = 1.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign in the chart: its name, the signs of matplotlib and plotly, and its relative size."""

    name: str
    matplotlib: str
    plotly: str
    colour: str
    size: float = 1.0


SWAP_UP = Mark("swap to the foreground", "^", "triangle-up", "#111111")
SWAP_DOWN = Mark("swap to the background", "v", "triangle-down", "#111111")
MOVE = Mark("move", "D", "diamond", "#111111")
EVICTION = Mark("eviction", "X", "x", "#c62828", 1.3)
RESUMED = Mark("resumed", "P", "cross", "#0a8f2a", 1.3)
MARKS = (SWAP_UP, SWAP_DOWN, MOVE, EVICTION, RESUMED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart(Timed):
    """Everything to draw.

    :param stays: clipped to the window; their lanes are in the layout.
    :param row: what the names of the layout's hosts name: slot, or host.
    :param about: what else there is to say of a process, by the numbers of job and process.
    :param waiting: from when on how many jobs wait; empty: that is not drawn.
    :param speedup: seconds of a trace that pass in a second of the chart; 0: there is no trace.
    """

    layout: Layout
    stays: Sequence[Stay]
    row: str = "slot"
    about: Mapping[tuple[int, int], str] = field(default_factory=dict)
    waiting: Sequence[tuple[float, int]] = ()
    speedup: float = 0.0

    @property
    def note(self) -> str:
        jobs = len({stay.job for stay in self.stays})
        rows = len(self.layout.hosts)
        return f"{self.row}s: {rows}, jobs: {jobs}; numbers in the bars are job numbers"

    @property
    def bar(self) -> float:
        """The height of a bar, which leaves a hair's breadth of its lane."""
        return self.layout.sizes.lane - HAIR

    def top(self, stay: Stay) -> float:
        """The upper edge of a bar."""
        return self.layout.top(stay.host, stay.tier, stay.number)

    def bands(self) -> Iterator[tuple[float, float]]:
        """Upper and lower edge of all background lanes of each slot."""
        lane = self.layout.sizes.lane
        for host, _slot, top in self.layout.rows:
            if host.tiers > 1:
                yield top + lane - HAIR / 2, top + host.tiers * lane - HAIR / 2

    def labels(self, most: int) -> list[tuple[float, str]]:
        """Names of slots at the middle of their foregrounds; if there are more, not all of them."""
        rows = list(self.layout.rows)
        step = -(-len(rows) // most)
        found = []
        for host, slot, top in rows[::step]:
            name = f"{host.name}  {slot}" if step > 1 or not slot else str(slot)
            found.append((top + self.bar / 2, host.name if host.slots == 1 else name))
        return found

    def labelled(self) -> Iterator[Stay]:
        """One stay of each block of a job on slots side by side: the middle one has its number."""
        block: list[Stay] = []
        for stay in sorted(self.stays, key=lambda stay: (*_block(stay), self.top(stay))):
            if block and not self._adjoin(block[-1], stay):
                yield block[len(block) // 2]
                block = []
            block.append(stay)
        if block:
            yield block[len(block) // 2]

    def _adjoin(self, one: Stay, other: Stay) -> bool:
        if _block(one) != _block(other):
            return False
        between = self.top(other) - self.top(one)
        return between <= max(map(self.layout.height, self.layout.hosts))

    def marks(self) -> Iterator[tuple[Mark, list[tuple[float, float, Stay]]]]:
        """The marks of each kind that there are: time, height and stay of each."""
        found: dict[Mark, list[tuple[float, float, Stay]]] = {mark: [] for mark in MARKS}
        for stay in self.stays:
            middle = self.top(stay) + self.bar / 2
            if stay.ended_by:
                found[_ending(stay)].append((stay.end, middle, stay))
            if stay.resumed:
                found[RESUMED].append((stay.begin, middle, stay))
        return ((mark, places) for mark, places in found.items() if places)

    def text(self, stay: Stay) -> list[str]:
        """The hover text of a stay, line by line."""
        tier = "foreground" if stay.front else "background"
        place = stay.host if self.row == "slot" else f"{stay.host}, slot {stay.number}"
        then = f", then {stay.ended_by}" if stay.ended_by else ""
        length = f"{stay.end - stay.begin:.0f} s{then}"
        lines = [
            f"job {stay.job}, process {stay.process}",
            f"{self.row} {place}, {tier}",
            f"{self.moment(stay.begin)} to {self.moment(stay.end)} ({length})",
        ]
        if self.speedup:
            begin, end = (at * self.speedup / 3600 for at in (stay.begin, stay.end))
            lines.append(f"trace {begin:.2f} to {end:.2f} h")
        if about := self.about.get((stay.job, stay.process)):
            lines.insert(1, about)
        return lines


def layout(hosts: Sequence[Host]) -> Layout:
    """The layout of a chart of hosts."""
    single = all(host.slots == 1 for host in hosts)
    return Layout(hosts, SINGLE) if single else Layout(hosts)


def colour(stay: Stay) -> str:
    return job_colours.of(stay.job)


def _ending(stay: Stay) -> Mark:
    if stay.ended_by is End.SWAP:
        return SWAP_DOWN if stay.front else SWAP_UP
    return MOVE if stay.ended_by is End.MOVE else EVICTION


def _block(stay: Stay) -> tuple:
    """What the stays of a job on slots side by side have in common."""
    return stay.job, not stay.front, stay.begin, stay.end
