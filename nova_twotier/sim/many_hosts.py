"""Clusters of very many slots on hosts of several slots, kept in arrays; they decide as
`core.hosts.Hosts` does.

What concerns hundreds of processes at once, as each start of a large job does, is one array
operation.
"""

import random
from collections.abc import Mapping, Sequence

import numpy

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import NOTHING, Cluster, Host, OutOfSlots, Run
from nova_twotier.core.slots import THRESHOLD
from nova_twotier.sim.many_nodes import Cpu, Places, coolest, places_of

#: The number of the job at a place that no job has.
NOBODY = -1


class ManyHosts(Cluster):
    """Hosts of `slots` slots and `tiers` tiers each, all of which take new VMs.

    :param count: number of hosts.
    """

    def __init__(
        self,
        count: int,
        slots: int,
        tiers: int = 2,
        threshold: float = THRESHOLD,
        rng: random.Random | None = None,
    ):
        hosts = [Host(f"host{index}", slots, tiers) for index in range(count)]
        super().__init__(hosts, threshold, rng)
        self.slots, self.tiers = slots, tiers
        #: What each run has, by the number of its job: the hosts of its processes, and their CPU
        #: utilisations.
        self.places: dict[int, Places] = {}
        self.cpu: dict[int, Cpu] = {}
        #: The numbers of the jobs that have places, by tier and host, in no order.
        most = {FG: slots, BG: slots * (tiers - 1)}
        self.jobs = {tier: numpy.full((count, most[tier]), NOBODY) for tier in Tier}
        #: Processes, and the sum of their CPU utilisations, by tier and host.
        self.used = {tier: numpy.zeros(count, numpy.int64) for tier in Tier}
        self._load = {tier: numpy.zeros(count) for tier in Tier}
        #: Slots closed by a hot foreground process, and the sum of the utilisations there.
        self._closed = numpy.zeros(count, numpy.int64)
        self._hot_load = numpy.zeros(count)
        #: Hosts with background processes that have to leave.
        self._overdue: set[int] = set()
        self.idle = {tier: count * most[tier] for tier in Tier}
        #: Free places by tier and host: those beside no load of the other tier, and the others,
        #: with the load beside these; infinite if there are none.
        self._unshared = {tier: numpy.full(count, most[tier]) for tier in Tier}
        self._shared = {tier: numpy.zeros(count, numpy.int64) for tier in Tier}
        self._heat = {tier: numpy.full(count, numpy.inf) for tier in Tier}

    def copy(self) -> "ManyHosts":
        twin = ManyHosts(0, self.slots, self.tiers)
        self._copy_runs(twin)
        twin.places, twin.cpu = dict(self.places), dict(self.cpu)
        twin.jobs = {tier: jobs.copy() for tier, jobs in self.jobs.items()}
        twin.used = {tier: used.copy() for tier, used in self.used.items()}
        twin._load = {tier: load.copy() for tier, load in self._load.items()}
        twin._closed, twin._hot_load = self._closed.copy(), self._hot_load.copy()
        twin._overdue = set(self._overdue)
        twin._unshared = {tier: places.copy() for tier, places in self._unshared.items()}
        twin._shared = {tier: places.copy() for tier, places in self._shared.items()}
        twin._heat = {tier: heat.copy() for tier, heat in self._heat.items()}
        return twin

    def room(self, tier: Tier, host: int) -> int:
        return int(self._unshared[tier][host] + self._shared[tier][host])

    def overfull(self, host: int) -> int:
        if host not in self._overdue:
            return 0
        return int(self.used[BG][host] - self._open_background(self._closed[[host]])[0])

    def overdue(self) -> list[int]:
        return sorted(self._overdue) if self._overdue else []

    def on(self, tier: Tier, host: int) -> list[Run]:
        numbers = set(self.jobs[tier][host].tolist())
        numbers.discard(NOBODY)
        return sorted([self.runs[number] for number in numbers], key=lambda run: run.job.order)

    def frees_background(self, run: Run) -> bool:
        return self._overdue.isdisjoint(run.hosts)

    def takes(self, tier: Tier, hosts: Sequence[int]) -> bool:
        wanted = numpy.bincount(places_of(hosts), minlength=len(self.hosts))
        return bool((wanted <= self._unshared[tier] + self._shared[tier]).all())

    def keep(self, tier: Tier, hosts: Sequence[int], promised: dict[int, int]) -> list[bool]:
        places = places_of(hosts)
        rooms = (self._unshared[tier][places] + self._shared[tier][places]).tolist()
        staying = []
        for host, room in zip(hosts, rooms, strict=True):
            taken = promised.get(host, 0)
            stays = taken < room
            staying.append(stays)
            promised[host] = taken + stays
        return staying

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        unshared, shared, heat = self._unshared[tier], self._shared[tier], self._heat[tier]
        idle = self.idle[tier]
        if promised and any(promised.values()):
            hosts = places_of(list(promised))
            offer = self._offer(tier, hosts, places_of(list(promised.values())))
            unshared, shared, heat = unshared.copy(), shared.copy(), heat.copy()
            unshared[hosts], shared[hosts], heat[hosts] = offer
            idle = int(unshared.sum() + shared.sum())
        if count > idle:
            raise OutOfSlots(f"{count} {tier} places wanted, {idle} idle")
        best = _repeated(numpy.flatnonzero(unshared)[:count], unshared, count)
        missing = count - len(best)
        if not missing:
            return best
        if self.rng:
            others = _repeated(numpy.flatnonzero(shared), shared, idle)
            return best + self.rng.sample(others, missing)
        return best + _repeated(coolest(heat, missing), shared, missing)

    def _occupy(self, run: Run) -> None:
        job, tier, hosts, _pinned, _until = run
        places = self.places[job.number] = places_of(hosts)
        cpu = self.cpu[job.number] = numpy.array(job.cpu)
        counts = numpy.bincount(places, minlength=len(self.hosts))
        touched = numpy.flatnonzero(counts)
        there = self.jobs[tier][touched]
        there[first_empty(there, counts[touched])] = job.number
        self.jobs[tier][touched] = there
        self._count(run, places, cpu, 1)
        self._recount(touched)

    def _vacate(self, run: Run) -> None:
        job, tier, _hosts, _pinned, _until = run
        places, cpu = self.places.pop(job.number), self.cpu.pop(job.number)
        touched = numpy.flatnonzero(numpy.bincount(places, minlength=len(self.hosts)))
        there = self.jobs[tier][touched]
        there[there == job.number] = NOBODY
        self.jobs[tier][touched] = there
        self._count(run, places, cpu, -1)
        self._recount(touched)

    def _count(self, run: Run, places: Places, cpu: Cpu, sign: int) -> None:
        numpy.add.at(self.used[run.tier], places, sign)
        numpy.add.at(self._load[run.tier], places, sign * cpu)
        if run.tier is FG and run.job.hottest >= self.threshold:
            hot = cpu >= self.threshold
            numpy.add.at(self._closed, places[hot], sign)
            numpy.add.at(self._hot_load, places[hot], sign * cpu[hot])

    def _recount(self, hosts: Places) -> None:
        """Recount the free places of some hosts, and whether some must be vacated."""
        for tier in Tier:
            unshared, shared, heat = self._unshared[tier], self._shared[tier], self._heat[tier]
            before = int(unshared[hosts].sum() + shared[hosts].sum())
            unshared[hosts], shared[hosts], heat[hosts] = offer = self._offer(tier, hosts)
            self.idle[tier] += int(offer[0].sum() + offer[1].sum()) - before
        if self._overdue:
            self._overdue.difference_update(hosts.tolist())
        late = self.used[BG][hosts] > self._open_background(self._closed[hosts])
        if late.any():
            self._overdue.update(hosts[late].tolist())

    def _offer(
        self, tier: Tier, hosts: Places, promised: Places | int = 0
    ) -> tuple[Places, Places, Cpu]:
        """The free places of some hosts: see `_unshared`, `_shared` and `_heat`.

        As `Hosts._free` has them.

        :param promised: places of each that are not to be given away.
        """
        share, closed = self.tiers - 1, self._closed[hosts]
        own, other = self.used[tier][hosts], self.used[tier.other][hosts]
        cpu = self._load[tier.other][hosts]
        if tier is FG:
            room = self.slots - own
            other = -(-other // share)
            alone = self.slots - other - own
        else:
            room = self._open_background(closed) - own
            alone = (self.slots - other) * share - own
            other = other - closed
            cpu = numpy.maximum(0.0, cpu - self._hot_load[hosts])
        room = numpy.maximum(0, room - promised)
        # As `next_slot_load`; without other processes, none is beside.
        heat = numpy.round(cpu / numpy.maximum(1, other), 9)
        alone = numpy.where((other > 0) & (heat != 0), numpy.clip(alone, 0, room), room)
        shared = room - alone
        return alone, shared, numpy.where(shared > 0, heat, numpy.inf)

    def _open_background(self, closed: Places) -> Places:
        """Background processes that hosts with so many closed slots may hold."""
        return (self.slots - closed) * (self.tiers - 1)


def first_empty(rows: Places, counts: Places) -> Places:
    """Where the first so many places of each row are that nobody has, as a mask."""
    empty = rows == NOBODY
    mask: Places = empty & (empty.cumsum(axis=1) <= counts[:, None])
    return mask


def _repeated(hosts: Places, places: Places, most: int) -> list[int]:
    """Each host as often as it has places, up to `most` in all."""
    repeated: list[int] = numpy.repeat(hosts, places[hosts])[:most].tolist()
    return repeated
