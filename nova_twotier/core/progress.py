"""How fast a process advances in its tier (TPDS 2013, section 5.1; JSS 2015, section 4.1)."""

from collections.abc import Iterator
from dataclasses import dataclass

from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.slots import Slot, arrange


@dataclass(frozen=True, slots=True)
class MeanProgress:
    """The papers' model with every random quantity at its mean.

    A foreground process advances at 1 alone and at `1 - loss` above a background VM. A background
    job advances at 1 while all its foreground VMs are idle, else at `eff * min(1, idle / cpu)` of
    its slowest process, `idle` being what the foreground leaves of the CPU, at least `floor`.
    """

    loss: float = 0.0185  # mean of uniform(0, 0.037)
    eff_single: float = 0.9  # mean of uniform(0.8, 1)
    eff_parallel: float = 0.4313  # mean of normal(0.428, 0.144) clipped to 0.2..0.8
    floor: float = 0.04  # lower bound of the idle share

    def rates(self, cluster: Cluster) -> dict[int, float]:
        """The progress of each running job, by its number, in seconds of work a second."""
        rates = dict.fromkeys(cluster.runs, 1.0)
        disturbed = set()
        for slot in arranged(cluster):
            left = 1.0
            if slot.fg is not None:
                number, index = slot.fg
                left -= cluster.runs[number].job.cpu[index]
                if slot.bg:
                    rates[number] = min(rates[number], 1 - self.loss)
            for place, (number, index) in enumerate(slot.bg):
                if slot.fg is not None or place:
                    disturbed.add(number)
                cpu = cluster.runs[number].job.cpu[index]
                if cpu > 0:
                    rates[number] = min(rates[number], max(left, self.floor) / cpu)
                left -= cpu
        for number in disturbed:
            single = cluster.runs[number].job.size == 1
            rates[number] *= self.eff_single if single else self.eff_parallel
        return rates


def arranged(cluster: Cluster) -> Iterator[Slot]:
    """Every slot of the cluster with its processes, as (job number, process index)."""
    seats = [{tier: {} for tier in Tier} for _ in cluster.hosts]
    for number in sorted(cluster.runs):
        run = cluster.runs[number]
        for index, (host, cpu) in enumerate(zip(run.hosts, run.job.cpu, strict=True)):
            seats[host][run.tier][number, index] = cpu
    for spec, seat in zip(cluster.hosts, seats, strict=True):
        # A host that was shrunk below its use keeps its VMs.
        slots = max(spec.slots, len(seat[Tier.FG]))
        yield from arrange(slots, seat[Tier.FG], seat[Tier.BG], cluster.threshold)
