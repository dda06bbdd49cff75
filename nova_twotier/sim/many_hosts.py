"""Clusters of very many slots on hosts of several slots, kept in arrays; they decide as
`core.hosts.Hosts` does.

What concerns hundreds of processes at once, as each start of a large job does, is one array
operation.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import NOTHING, Cluster, Host, OutOfSlots, Run
from nova_twotier.core.slots import THRESHOLD
from nova_twotier.sim.many_nodes import Cpu, Places, coolest, places_of


class Spread(NamedTuple):
    """How a job is spread over hosts.

    :ivar places: the host of each of its processes.
    :ivar cpu: the CPU utilisation of each.
    :ivar hosts: its hosts, in order; `counts` and `loads` are the number of its processes on each,
        and the sum of their utilisations.
    """

    places: Places
    cpu: Cpu
    hosts: Places
    counts: Places
    loads: Cpu


class ManyHosts(Cluster):
    """Hosts of `slots` slots and `tiers` tiers each, all of which take new VMs.

    :param count: number of hosts.
    :param tiers: at least 2.
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
        #: Where each run is, by the number of its job.
        self.spreads: dict[int, Spread] = {}
        #: Places of a host by tier, while no slot is closed.
        most = self.most = {FG: slots, BG: slots * (tiers - 1)}
        #: Processes, and the sum of their CPU utilisations, by tier and host.
        self.used = {tier: numpy.zeros(count, numpy.int64) for tier in Tier}
        self._load = {tier: numpy.zeros(count) for tier in Tier}
        #: Slots closed by a hot foreground process, and the sum of the utilisations there.
        self._closed = numpy.zeros(count, numpy.int64)
        self._hot_load = numpy.zeros(count)
        #: Hosts with background processes that have to leave.
        self._overdue: set[int] = set()
        #: Free places by tier, and by tier and host.
        self.idle = {tier: count * most[tier] for tier in Tier}
        self.rooms = {tier: numpy.full(count, most[tier]) for tier in Tier}
        #: Free places by tier and host as of the last `rank`: those beside no load of the other
        #: tier, and the others, with the load beside these; infinite if there are none.
        self._unshared = {tier: numpy.full(count, most[tier]) for tier in Tier}
        self._shared = {tier: numpy.zeros(count, numpy.int64) for tier in Tier}
        self._heat = {tier: numpy.full(count, numpy.inf) for tier in Tier}
        #: Whether processes of either tier came to a host or left it since then.
        self._changed = {tier: numpy.zeros(count, bool) for tier in Tier}

    def copy(self) -> "ManyHosts":
        twin = ManyHosts(0, self.slots, self.tiers)
        self._copy_runs(twin)
        twin.spreads = dict(self.spreads)
        twin.used, twin._load, twin.rooms = _copies(self.used, self._load, self.rooms)
        twin._closed, twin._hot_load = self._closed.copy(), self._hot_load.copy()
        twin._overdue = set(self._overdue)
        twin._unshared, twin._shared = _copies(self._unshared, self._shared)
        twin._heat, twin._changed = _copies(self._heat, self._changed)
        return twin

    def room(self, tier: Tier, host: int) -> int:
        return int(self.rooms[tier][host])

    def overfull(self, host: int) -> int:
        if host not in self._overdue:
            return 0
        return int(self.used[BG][host] - (self.slots - self._closed[host]) * (self.tiers - 1))

    def overdue(self) -> list[int]:
        return sorted(self._overdue) if self._overdue else []

    def on(self, tier: Tier, hosts: Collection[int]) -> dict[int, list[Run]]:
        found: dict[int, list[Run]] = {host: [] for host in hosts}
        wanted = numpy.zeros(len(self.hosts), bool)
        wanted[list(hosts)] = True
        for run in self.walk(tier):
            there = self.spreads[run.job.number].hosts
            for host in there[wanted[there]].tolist():
                found[host].append(run)
        return found

    def frees_background(self, run: Run) -> bool:
        return not run.pinned and self._overdue.isdisjoint(run.hosts)

    def takes(self, tier: Tier, hosts: Sequence[int]) -> bool:
        there, counts = _counted(places_of(hosts))
        return bool((counts <= self.rooms[tier][there]).all())

    def keep(self, tier: Tier, hosts: Sequence[int], promised: dict[int, int]) -> list[bool]:
        places = places_of(hosts)
        there, counts = _counted(places)
        taken = places_of([promised.get(host, 0) for host in there.tolist()])
        found = numpy.minimum(counts, numpy.maximum(0, self.rooms[tier][there] - taken))
        promised.update(zip(there.tolist(), (taken + found).tolist(), strict=True))
        # Of the processes on a host, the first ones stay.
        order = numpy.argsort(places, kind="stable")
        before = numpy.repeat(counts.cumsum() - counts, counts)
        staying = numpy.empty(len(places), bool)
        staying[order] = numpy.arange(len(places)) - before < numpy.repeat(found, counts)
        return staying.tolist()

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        unshared, shared, heat = self._unshared[tier], self._shared[tier], self._heat[tier]
        changed, idle = self._changed[tier].nonzero()[0], self.idle[tier]
        unshared[changed], shared[changed], heat[changed] = self._offer(tier, changed)
        self._changed[tier][changed] = False
        if promised and any(promised.values()):
            hosts, kept = places_of(list(promised)), places_of(list(promised.values()))
            unshared, shared, heat = unshared.copy(), shared.copy(), heat.copy()
            unshared[hosts], shared[hosts], heat[hosts] = self._offer(tier, hosts, kept)
            idle = int(unshared.sum() + shared.sum())
        if count > idle:
            raise OutOfSlots(f"{count} {tier} places wanted, {idle} idle")
        best = _repeated(_some(unshared)[:count], unshared, count)
        missing = count - len(best)
        if not missing:
            return best
        if self.rng:
            others = _repeated(_some(shared), shared, idle)
            return best + self.rng.sample(others, missing)
        return best + _repeated(places_of(coolest(heat, missing)), shared, missing)

    def _occupy(self, run: Run) -> None:
        job = run.job
        places, cpu = places_of(run.hosts), numpy.array(job.cpu)
        hosts, counts = _counted(places)
        # By numpy's annotations, these would be whole numbers.
        loads = numpy.asarray(numpy.bincount(places, cpu), numpy.float64)[hosts]
        spread = self.spreads[job.number] = Spread(places, cpu, hosts, counts, loads)
        self._count(run, spread, 1)

    def _vacate(self, run: Run) -> None:
        self._count(run, self.spreads.pop(run.job.number), -1)

    def _count(self, run: Run, spread: Spread, sign: int) -> None:
        """Count the processes of a run that came (1) or left (-1)."""
        job, tier, _hosts, _pinned, _until = run
        places, cpu, hosts, counts, loads = spread
        self.used[tier][hosts] += sign * counts
        self._load[tier][hosts] += sign * loads
        for changed in self._changed.values():
            changed[hosts] = True
        if tier is FG:
            self.rooms[FG][hosts] -= sign * counts
            self.idle[FG] -= sign * job.size
            if job.hottest < self.threshold:
                return
            hot = cpu >= self.threshold
            numpy.add.at(self._closed, places[hot], sign)
            numpy.add.at(self._hot_load, places[hot], sign * cpu[hot])
        self._recount_background(hosts)

    def _recount_background(self, hosts: Places) -> None:
        """Recount the free background places of some hosts, and whether some must be vacated."""
        rooms = self.rooms[BG]
        room = (self.slots - self._closed[hosts]) * (self.tiers - 1) - self.used[BG][hosts]
        if self._overdue:
            self._overdue.difference_update(hosts.tolist())
        late = room < 0
        if late.any():
            self._overdue.update(hosts[late].tolist())
            room[late] = 0
        self.idle[BG] += int((room - rooms[hosts]).sum())
        rooms[hosts] = room

    def _offer(
        self, tier: Tier, hosts: Places, promised: Places | int = 0
    ) -> tuple[Places, Places, Cpu]:
        """The free places of these hosts: see `_unshared`, `_shared` and `_heat`.

        As `Hosts._free` has them.

        :param promised: places of each that are not to be given away.
        """
        room, other = self.rooms[tier][hosts], self.used[tier.other][hosts]
        load = self._load[tier.other][hosts]
        if tier is FG:
            other = -(-other // (self.tiers - 1))
            alone = room - other
        else:
            alone = (self.slots - other) * (self.tiers - 1) - self.used[BG][hosts]
            other = other - self._closed[hosts]
            load = numpy.maximum(0.0, load - self._hot_load[hosts])
        room = numpy.maximum(0, room - promised)
        # As `next_slot_load`; where no other process is, none is beside.
        heat = (load / numpy.maximum(1, other)).round(9)
        alone = numpy.minimum(numpy.maximum(0, alone), room)
        alone = numpy.where((other > 0) & (heat != 0), alone, room)
        shared = room - alone
        return alone, shared, numpy.where(shared > 0, heat, numpy.inf)


def _counted(places: Places) -> tuple[Places, Places]:
    """The hosts of these places, in order, and how often each is among them."""
    counts = numpy.bincount(places)
    hosts = _some(counts)
    return hosts, counts[hosts]


def _some(counts: Places) -> Places:
    """The indexes at which the counts are above zero."""
    # numpy finds them several times as fast among booleans as among numbers.
    found: Places = (counts > 0).nonzero()[0]
    return found


def _repeated(hosts: Places, places: Places, most: int) -> list[int]:
    """List each of the hosts as many times as it has places, `most` entries at most."""
    repeated: list[int] = numpy.repeat(hosts, places[hosts])[:most].tolist()
    return repeated


def _copies(*arrays: dict[Tier, NDArray]) -> list[dict[Tier, NDArray]]:
    return [{tier: array.copy() for tier, array in by_tier.items()} for by_tier in arrays]
