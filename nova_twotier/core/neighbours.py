"""What runs beside each process: what jobs see of the other tier, slot by slot."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import Cluster, Run
from nova_twotier.core.slots import Slot, arrange


def positive(cpu: Iterable[float]) -> tuple[float, ...]:
    """Utilisations of which none is nought, so that one can divide by them."""
    return tuple(value or 1e-9 for value in cpu)


def views(
    cluster: Cluster, floor: float, cpu: Mapping[int, Sequence[float]] | None = None
) -> Iterator[tuple[Run, bool, list[float]]]:
    """What each running job sees of the other tier, slot by slot.

    :param cpu: the true utilisations of each job's processes, if they are not those it names.
    :returns: for each run, whether a VM of the other tier shares a slot with one of its processes
        (or, in the background, another VM of the same), and the CPU share that each finds idle.
    """
    own = cpu or {number: run.job.cpu for number, run in cluster.runs.items()}
    shared: set[int] = set()
    idle = {number: [1.0] * run.job.size for number, run in cluster.runs.items()}
    for slot in arranged(cluster):
        left = 1.0
        if slot.fg is not None:
            number, index = slot.fg
            left -= own[number][index]
            if slot.bg:
                shared.add(number)
        for place, (number, index) in enumerate(slot.bg):
            if slot.fg is not None or place:
                shared.add(number)
            idle[number][index] = max(left, floor)
            left -= own[number][index]
    for number, run in cluster.runs.items():
        yield run, number in shared, idle[number]


def arranged(cluster: Cluster) -> Iterator[Slot]:
    """Every slot of the cluster with its processes, as (job number, process index)."""
    seats: list[dict[Tier, dict[Hashable, float]]] = [
        {tier: {} for tier in Tier} for _ in cluster.hosts
    ]
    for number in sorted(cluster.runs):
        run = cluster.runs[number]
        for index, (host, cpu) in enumerate(zip(run.hosts, run.job.cpu, strict=True)):
            seats[host][run.tier][number, index] = cpu
    for spec, seat in zip(cluster.hosts, seats, strict=True):
        # A host that was shrunk below its use keeps its VMs.
        slots = max(spec.slots, len(seat[FG]))
        yield from arrange(slots, seat[FG], seat[BG], cluster.threshold)
