"""Occupancy of the hosts' slots in both tiers.

A host has L slots, each with room for one foreground and K-1 background processes. Its slots are
interchangeable: as in Placement, they are counted, not named (`core.slots` says who shares one).
"""

import math
import random
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from nova_twotier.core.actions import BG, FG, Action, Move, Start, Tier
from nova_twotier.core.jobs import Job
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.core.slots import THRESHOLD, Group, Ranking, first, is_hot, next_slot_load

NOTHING: Mapping[int, int] = MappingProxyType({})
#: A position before that of any job.
FIRST = (-math.inf, 0)


class OutOfSlots(ValueError):
    """The cluster has no room for a placement."""


@dataclass(frozen=True, slots=True)
class Host:
    """A compute host with L `slots` of K `tiers`; it takes new VMs while `enabled`.

    From the time `closes` on, in seconds, it is planned to take none: see `core.windows`.
    """

    name: str
    slots: int
    tiers: int = 2
    enabled: bool = True
    closes: float = math.inf


class Run(NamedTuple):
    """A job on its slots: `hosts[i]` is the index of the host of process i.

    A `pinned` run is just starting or leaving: no policy moves or evicts it.
    `until` is its estimated end; infinite without an estimate.
    """

    job: Job
    tier: Tier
    hosts: tuple[int, ...]
    pinned: bool = False
    until: float = math.inf


#: Makes a run from a tuple of its fields, in two thirds of the time.
make_run = partial(tuple.__new__, Run)


class Cluster:
    """Hosts and the jobs on them.

    :param hosts: in the order that breaks ties.
    :param threshold: foreground CPU utilisation from which on a slot is closed to the background.
    :param rng: if given, places beside other VMs are drawn from it instead of ranked (no CPU
        usage is known; JSS 2015, section 4.3.1).
    :param runs: the runs on them, even if there is no room.
    """

    def __init__(
        self,
        hosts: Sequence[Host],
        threshold: float = THRESHOLD,
        rng: random.Random | None = None,
        runs: Iterable[Run] = (),
    ):
        self.hosts = tuple(hosts)
        self._all_enabled = all(host.enabled for host in self.hosts)
        self.threshold = threshold
        self.rng = rng
        self.runs: dict[int, Run] = {}
        #: The runs of a tier, and their jobs' positions, by arrival.
        self._running: dict[Tier, list[Run]] = {tier: [] for tier in Tier}
        self._orders: dict[Tier, list[tuple[float, int]]] = {tier: [] for tier in Tier}
        self._ends: list[tuple[float, int, int]] = []
        #: Free places by tier.
        self.idle: dict[Tier, int] = {}
        self._empty()
        self._fill(runs)

    def _empty(self) -> None:
        """Set up the counts of the hosts' places, with nothing on them."""
        #: Processes, and the sum of their CPU utilisations, by tier and host.
        self.used = {tier: [0] * len(self.hosts) for tier in Tier}
        self.load = {tier: [0.0] * len(self.hosts) for tier in Tier}
        #: Slots closed by a hot foreground process, and the sum of the utilisations there.
        self.closed = [0] * len(self.hosts)
        self._hot_load = [0.0] * len(self.hosts)
        self._no_rankings()
        self._count_idle()

    def _fill(self, runs: Iterable[Run]) -> None:
        """Adopt all runs, counting the idle places only once."""
        for run in runs:
            self._enlist(run)
            self._count(run, 1)
        if self.runs:
            self._count_idle()

    def _count_idle(self) -> None:
        hosts = range(len(self.hosts))
        #: Free places by tier and host.
        self._rooms = {tier: [0] * len(hosts) for tier in Tier}
        #: Hosts of which an eviction may free no slot, and hosts with background processes that
        #: have to leave.
        self._tight: set[int] = set()
        self._overdue: set[int] = set()
        self.idle = dict.fromkeys(Tier, 0)
        self._recount_foreground(hosts)
        self._recount_background(hosts)

    def _recount_foreground(self, touched: Iterable[int]) -> None:
        """Recount the free foreground places of some hosts."""
        hosts, used, rooms = self.hosts, self.used[FG], self._rooms[FG]
        gained = 0
        for host in touched:
            spec = hosts[host]
            room = spec.slots - used[host]
            if room < 0 or not spec.enabled:
                self._tight.add(host)
                room = 0
            elif self._tight:
                self._tight.discard(host)
            gained += room - rooms[host]
            rooms[host] = room
        self.idle[FG] += gained

    def _recount_background(self, touched: Iterable[int]) -> None:
        """Recount the free background places of some hosts, and whether some must be vacated."""
        hosts, used, rooms = self.hosts, self.used[BG], self._rooms[BG]
        gained = 0
        for host in touched:
            room = self.open_background(host) - used[host]
            # A host that was shrunk below its use keeps its VMs while none of its slots is closed.
            if room < 0 and self.closed[host]:
                self._overdue.add(host)
            elif self._overdue:
                self._overdue.discard(host)
            if room < 0 or not hosts[host].enabled:
                room = 0
            gained += room - rooms[host]
            rooms[host] = room
        self.idle[BG] += gained

    def copy(self) -> "Cluster":
        """An independent copy; hosts and runs are values and shared."""
        twin = Cluster(())
        self._copy_runs(twin)
        self._copy_counts(twin)
        return twin

    def _copy_runs(self, twin: "Cluster") -> None:
        twin.hosts, twin.threshold = self.hosts, self.threshold
        twin._all_enabled = self._all_enabled
        if self.rng:
            twin.rng = random.Random()  # noqa: S311
            twin.rng.setstate(self.rng.getstate())
        twin.runs = dict(self.runs)
        twin._running = {tier: list(runs) for tier, runs in self._running.items()}
        twin._orders = {tier: list(orders) for tier, orders in self._orders.items()}
        twin._ends = list(self._ends)
        twin.idle = dict(self.idle)

    def _copy_counts(self, twin: "Cluster") -> None:
        twin.used = {tier: list(counts) for tier, counts in self.used.items()}
        twin.load = {tier: list(loads) for tier, loads in self.load.items()}
        twin.closed, twin._hot_load = list(self.closed), list(self._hot_load)
        twin._rooms = {tier: list(rooms) for tier, rooms in self._rooms.items()}
        twin._tight, twin._overdue = set(self._tight), set(self._overdue)
        twin._no_rankings()

    def _no_rankings(self) -> None:
        """Drop the rankings; they are made again on demand."""
        self._rankings: dict[Tier, Ranking] = {}
        #: Hosts whose places differ from those in the ranking of the tier.
        self._changed: dict[Tier, set[int]] = {}

    def limit_hosts(self, taking: Container[int]) -> None:
        """From now on, only these of the hosts that take new VMs do so."""
        self.replace_hosts(
            [
                host if index in taking or not host.enabled else replace(host, enabled=False)
                for index, host in enumerate(self.hosts)
            ]
        )

    def replace_hosts(self, hosts: Iterable[Host]) -> None:
        """Change which hosts take new VMs; what runs there stays."""
        self.hosts = tuple(hosts)
        self._all_enabled = all(host.enabled for host in self.hosts)
        self._no_rankings()
        self._count_idle()

    def room(self, tier: Tier, host: int) -> int:
        """Free places of the host in this tier; never negative."""
        return self._rooms[tier][host]

    def left(self, tier: Tier, host: int) -> int:
        """Free places for processes that are on the host already, even if it takes no new VMs."""
        if self.hosts[host].enabled:
            return self.room(tier, host)
        places = self.hosts[host].slots if tier is FG else self.open_background(host)
        return max(0, places - self.used[tier][host])

    def open_background(self, host: int) -> int:
        """Background processes that the host may hold: K-1 on each slot that is not closed."""
        spec = self.hosts[host]
        slots = spec.slots - self.closed[host]
        return slots * (spec.tiers - 1) if slots > 0 else 0

    def overfull(self, host: int) -> int:
        """Background processes that have to leave because their slot is closed.

        A host that was shrunk below its use keeps its VMs as long as none of its slots is closed.
        """
        if not self.closed[host]:
            return 0
        return max(0, self.used[BG][host] - self.open_background(host))

    def overdue(self) -> list[int]:
        """Hosts with background processes that have to leave."""
        return sorted(self._overdue)

    def frees(self, run: Run) -> bool:
        """Whether a policy may evict the run, and all its foreground slots on hosts that take new
        VMs would become idle, one at least.

        None would on a host that holds more VMs than slots.
        """
        if run.pinned:
            return False
        if self._tight.isdisjoint(run.hosts):
            return True
        enabled = [host for host in run.hosts if self.hosts[host].enabled]
        return bool(enabled) and self._tight.isdisjoint(enabled)

    def frees_background(self, run: Run) -> bool:
        """Whether a policy may evict the run, and all its background places on hosts that take new
        VMs would become idle, one at least."""
        used = self.used[BG]
        enabled = [host for host in run.hosts if self.hosts[host].enabled]
        return (
            bool(enabled)
            and not run.pinned
            and all(used[host] <= self.open_background(host) for host in enabled)
        )

    def straddling(self, tier: Tier) -> Mapping[int, int]:
        """The runs of a tier of which some hosts take new VMs and others do not, by job number: how
        many of their processes are on hosts that do. Only the places of these can become idle."""
        if self._all_enabled:
            return NOTHING
        found = {}
        for run in self._running[tier]:
            places = sum([self.hosts[host].enabled for host in run.hosts])
            if 0 < places < run.job.size:
                found[run.job.number] = places
        return found

    @property
    def has_scavengers(self) -> bool:
        """Whether a scavenger runs: these are the last in the background."""
        running = self._running[BG]
        return running[-1].job.qos is SCAVENGER if running else False

    def scavengers(self) -> list[Run]:
        """The runs of scavengers that a policy may evict, in the order of their jobs' arrival.

        How many places they free: see `straddling`.
        """
        found: list[Run] = []
        for run in reversed(self._running[BG]):
            if run.job.qos is not SCAVENGER:
                break
            if self.frees_background(run):
                found.append(run)
        found.reverse()
        return found

    def fits(self, job: Job, tier: Tier) -> bool:
        return job.size <= self.idle[tier]

    def need(self, job: Job) -> Reason:
        """What a waiting job lacks in the foreground."""
        return waits.SLOTS(size=job.size, idle=self.idle[FG])

    def uses(self, tier: Tier) -> bool:
        """Whether anything runs in the tier."""
        return bool(self._running[tier])

    def running(self, tier: Tier) -> list[Run]:
        """The runs of a tier in the order of their jobs' arrival."""
        return self._running[tier].copy()

    def walk(self, tier: Tier) -> Iterator[Run]:
        """Like `running`, as an iterator; the cluster must not change meanwhile."""
        return iter(self._running[tier])

    def on(self, tier: Tier, host: int) -> list[Run]:
        """The runs with a process in this tier of a host, in the order of their jobs' arrival."""
        return [run for run in self.walk(tier) if host in run.hosts]

    def evictable(self, after: tuple[float, int] = FIRST) -> list[Run]:
        """The foreground runs that a policy may evict, in the order of their jobs' arrival.

        How many slots they free: see `straddling`.

        :param after: only those of jobs that arrived after this position.
        """
        later = self._later(after)
        if not self._tight:
            return [run for run in later if not run.pinned]
        return [run for run in later if self.frees(run)]

    def _later(self, after: tuple[float, int]) -> list[Run]:
        """The foreground runs of jobs that arrived after a position."""
        return self._running[FG][bisect_right(self._orders[FG], after) :]

    @property
    def ends(self) -> Sequence[tuple[float, int, int]]:
        """Estimated end, number and size of foreground jobs with an estimate, by end."""
        return self._ends

    def takes(self, tier: Tier, hosts: Sequence[int]) -> bool:
        """Whether each of these hosts has room for a process, as often as it is named."""
        rooms = self._rooms[tier]
        return all(rooms[host] >= count for host, count in Counter(hosts).items())

    def holds(self, tier: Tier, hosts: Sequence[int]) -> bool:
        """Whether a job that is on these hosts can stay there in another tier."""
        if self._all_enabled:
            return self.takes(tier, hosts)
        return all(self.left(tier, host) >= count for host, count in Counter(hosts).items())

    def keep(self, tier: Tier, hosts: Sequence[int], promised: dict[int, int]) -> list[bool]:
        """For each process on these hosts, whether there is room besides the promised places.

        :param promised: places by host; the places found are added.
        """
        staying, rooms = [], self._rooms[tier]
        for host in hosts:
            taken = promised.get(host, 0)
            stays = taken < rooms[host]
            staying.append(stays)
            promised[host] = taken + stays
        return staying

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        """The `count` best free places of a tier, as host indices: the least loaded first.

        :param promised: places by host that are not to be given away.
        :raises OutOfSlots: if fewer are free.
        """
        free = self._ranking(tier)
        for host, places in promised.items():
            if places:
                free.replace(host, self._free(tier, host, places))
                self._changed[tier].add(host)
        best = self._draw(count, free.groups, self.rng) if self.rng else free.best(count)
        if len(best) < count:
            raise OutOfSlots(f"{count} {tier} places wanted, {len(best)} idle")
        return best

    def _draw(self, count: int, free: Sequence[Group], rng: random.Random) -> list[int]:
        """Up to `count` free places: empty slots first, then random ones beside other VMs.

        Only an empty slot is known to have no load; the usage of other VMs is not known.
        """
        alone = first((group for group in free if not group[0]), count)
        beside = sorted(host for load, host, places in free if load for _place in range(places))
        missing = count - len(alone)
        return alone + rng.sample(beside, min(missing, len(beside)))

    def _ranking(self, tier: Tier) -> Ranking:
        """The present free places of a tier."""
        ranking = self._rankings.get(tier)
        if ranking is None:
            ranking = self._rankings[tier] = Ranking(self._all_free(tier))
            self._changed[tier] = set()
        changed = self._changed[tier]
        while changed:
            host = changed.pop()
            ranking.replace(host, self._free(tier, host))
        return ranking

    def _all_free(self, tier: Tier) -> list[list[Group]]:
        return [self._free(tier, host) for host in range(len(self.hosts))]

    def _free(self, tier: Tier, host: int, promised: int = 0) -> list[Group]:
        """The free places of a host, those on slots without the other tier first."""
        room = self.room(tier, host) - promised
        if room <= 0:
            return []
        spec, own = self.hosts[host], self.used[tier][host]
        share = spec.tiers - 1
        if tier is FG:
            slots, cpu = spec.slots, self.load[BG][host]
            other = -(-self.used[BG][host] // max(1, share))
            alone = slots - other - own
        else:
            slots = spec.slots - self.closed[host]
            cpu = max(0.0, self.load[FG][host] - self._hot_load[host])
            other = self.used[FG][host] - self.closed[host]
            alone = (slots - other) * share - own
        alone = max(0, min(room, alone)) if other else room
        groups = [(0.0, host, alone)] if alone else []
        if alone < room:
            groups.append((next_slot_load(slots, slots, other, cpu), host, room - alone))
        return groups

    def start(
        self,
        job: Job,
        tier: Tier,
        hosts: Sequence[int] | None = None,
        until: float = math.inf,
    ) -> Run:
        """Put a job on `hosts`, or on the best places of the tier.

        :raises OutOfSlots: if the job is on the cluster already, or has no room there.
        """
        if job.number in self.runs:
            raise OutOfSlots(f"{job.label} already runs in {self.runs[job.number].tier}")
        if hosts is None:
            hosts = job.hand_out(self.rank(tier, job.size))
        elif not self.takes(tier, hosts):
            raise OutOfSlots(f"{job.label} has no room in {tier} on the hosts chosen for it")
        run = make_run((job, tier, tuple(hosts), False, until))
        self.adopt(run)
        return run

    def adopt(self, run: Run) -> None:
        """Add an observed run, even if there is no room."""
        self._enlist(run)
        self._occupy(run)

    def _enlist(self, run: Run) -> None:
        job, tier, _hosts, _pinned, until = run
        number, order = job.number, job.order
        self.runs[number] = run
        orders, running = self._orders[tier], self._running[tier]
        if orders and order < orders[-1]:
            index = bisect_left(orders, order)
            orders.insert(index, order)
            running.insert(index, run)
        else:
            orders.append(order)
            running.append(run)
        if until < math.inf and tier is FG:
            insort(self._ends, (until, number, job.size))

    def remove(self, job: Job) -> Run:
        """Take a job off its slots.

        :raises KeyError: if it does not run.
        """
        run = self._delist(job.number)
        self._vacate(run)
        return run

    def show_anew(self, job: Job, until: float) -> None:
        """Replace the policy's view of a running job, which keeps its slots.

        :param job: with the same number, size and utilisations; it may have another order.
        :raises KeyError: if it does not run.
        """
        self._enlist(self._delist(job.number)._replace(job=job, until=until))

    def _delist(self, number: int) -> Run:
        run = self.runs.pop(number)
        job, tier, _hosts, _pinned, until = run
        orders = self._orders[tier]
        index = bisect_left(orders, job.order)
        del orders[index], self._running[tier][index]
        if until < math.inf and tier is FG:
            del self._ends[bisect_left(self._ends, (until, number, job.size))]
        return run

    def apply(self, actions: Iterable[Action]) -> None:
        """Apply a policy's actions, on the places that they name; they name no ends.

        :raises OutOfSlots: if the decision does not fit this cluster.
        """
        actions = list(actions)
        for action in actions:
            if not isinstance(action, Start):
                self.remove(action.job)
        for action in actions:
            if isinstance(action, Move):
                self._move(action)
            elif isinstance(action, Start):
                self.start(action.job, action.tier, action.hosts)

    def _move(self, move: Move) -> None:
        """Put a job that was removed on its slots of the other tier."""
        if move.before == move.after and self.holds(move.tier, move.after):
            self.adopt(make_run((move.job, move.tier, move.after, False, math.inf)))
        else:
            self.start(move.job, move.tier, move.after)

    def _occupy(self, run: Run) -> None:
        self._change(run, 1)

    def _vacate(self, run: Run) -> None:
        self._change(run, -1)

    def _change(self, run: Run, sign: int) -> None:
        self._count(run, sign)
        touched = set(run.hosts)
        if run.tier is FG:
            self._recount_foreground(touched)
        if run.tier is BG or is_hot(run.job.hottest, self.threshold):
            self._recount_background(touched)
        for changed in self._changed.values():
            changed |= touched

    def _count(self, run: Run, sign: int) -> None:
        job, tier, hosts, _pinned, _until = run
        used, load = self.used[tier], self.load[tier]
        for host, cpu in zip(hosts, job.cpu, strict=True):
            used[host] += sign
            load[host] += sign * cpu
        # Most jobs have no hot process.
        threshold = self.threshold
        if tier is FG and is_hot(job.hottest, threshold):
            for host, cpu in zip(hosts, job.cpu, strict=True):
                if cpu >= threshold:
                    self.closed[host] += sign
                    self._hot_load[host] += sign * cpu
