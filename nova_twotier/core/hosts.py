"""Occupancy of the hosts' slots in both tiers.

A host has L slots, each with room for one foreground and K-1 background processes. Its slots are
interchangeable: as in Placement, they are counted, not named (`core.slots` says who shares one).
"""

import random
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import FIRST, NOTHING, Cluster, Host, OutOfSlots, Run
from nova_twotier.core.jobs import Order
from nova_twotier.core.slots import THRESHOLD, Group, Ranking, first, is_hot, next_slot_load


class Hosts(Cluster):
    """Hosts of any number of slots and tiers, some of which may take no new VMs.

    :param hosts, threshold, rng: see `Cluster`.
    :param runs: the runs on them, even if there is no room.
    """

    def __init__(
        self,
        hosts: Sequence[Host],
        threshold: float = THRESHOLD,
        rng: random.Random | None = None,
        runs: Iterable[Run] = (),
    ):
        super().__init__(hosts, threshold, rng)
        self._all_enabled = all(host.enabled for host in self.hosts)
        #: Processes, and the sum of their CPU utilisations, by tier and host.
        self.used = {tier: [0] * len(self.hosts) for tier in Tier}
        self.load = {tier: [0.0] * len(self.hosts) for tier in Tier}
        #: Slots closed by a hot foreground process, and the sum of the utilisations there.
        self.closed = [0] * len(self.hosts)
        self._hot_load = [0.0] * len(self.hosts)
        self._no_rankings()
        for run in runs:
            self._enlist(run)
            self._count(run, 1)
        self._count_idle()

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled by its values: see `Job.__reduce__`.
        if type(self) is not Hosts:
            raise TypeError(f"{type(self).__name__} does not say how it is pickled")
        return Hosts, (self.hosts, self.threshold, self.rng, [*self.runs.values()])

    def copy(self) -> "Hosts":
        twin = Hosts(())
        self._copy_runs(twin)
        self._copy_counts(twin)
        return twin

    def _copy_counts(self, twin: "Hosts") -> None:
        twin._all_enabled = self._all_enabled
        twin.used = {tier: list(counts) for tier, counts in self.used.items()}
        twin.load = {tier: list(loads) for tier, loads in self.load.items()}
        twin.closed, twin._hot_load = list(self.closed), list(self._hot_load)
        twin._rooms = {tier: list(rooms) for tier, rooms in self._rooms.items()}
        twin._tight, twin._overdue = set(self._tight), set(self._overdue)
        twin._no_rankings()

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
        return self._rooms[tier][host]

    def left(self, tier: Tier, host: int) -> int:
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
        # A host that was shrunk below its use keeps its VMs while none of its slots is closed.
        if not self.closed[host]:
            return 0
        return max(0, self.used[BG][host] - self.open_background(host))

    def overdue(self) -> list[int]:
        return sorted(self._overdue)

    def frees(self, run: Run) -> bool:
        """Whether a policy may evict the run, and all its foreground slots on hosts that take new
        VMs would become idle, one at least.

        None would on a host that holds more VMs than slots.
        """
        return not run.pinned and self._clears(run)

    def _clears(self, run: Run) -> bool:
        if self._tight.isdisjoint(run.hosts):
            return True
        enabled = [host for host in run.hosts if self.hosts[host].enabled]
        return bool(enabled) and self._tight.isdisjoint(enabled)

    def frees_background(self, run: Run) -> bool:
        used = self.used[BG]
        enabled = [host for host in run.hosts if self.hosts[host].enabled]
        return (
            bool(enabled)
            and not run.pinned
            and all(used[host] <= self.open_background(host) for host in enabled)
        )

    def straddling(self, tier: Tier) -> Mapping[int, int]:
        if self._all_enabled:
            return NOTHING
        found = {}
        for run in self._running[tier]:
            places = sum([self.hosts[host].enabled for host in run.hosts])
            if 0 < places < run.job.size:
                found[run.job.number] = places
        return found

    @property
    def ends(self) -> Sequence[tuple[float, int, int]]:
        return self._freed_by_ends(self._beyond()) if self._tight else self._ends

    def endless(self) -> int:
        if not self._tight:
            return super().endless()
        beyond = self._beyond()
        self._freed_by_ends(beyond)
        return sum([_freed(run, beyond) for run in self._without_end()])

    def _freed_by_ends(self, beyond: dict[int, int]) -> list[tuple[float, int, int]]:
        """See `ends`; `beyond` is reduced by the processes that end."""
        runs = self.runs
        return [
            (until, number, _freed(runs[number], beyond)) for until, number, _size in self._ends
        ]

    def _beyond(self) -> dict[int, int]:
        """Foreground processes that end without making a slot idle, by host: all of them where no
        new VMs are taken; where there are more of them than slots, those that are too many."""
        hosts, used = self.hosts, self.used[FG]
        return {
            host: used[host] - (hosts[host].slots if hosts[host].enabled else 0)
            for host in self._tight
        }

    def evictable(self, after: Order = FIRST) -> list[Run]:
        found = super().evictable(after)
        return [run for run in found if self.frees(run)] if self._tight else found

    def settling(self, numbers: Container[int], after: Order) -> list[Run]:
        found = super().settling(numbers, after)
        return [run for run in found if self._clears(run)] if self._tight else found

    def holds(self, tier: Tier, hosts: Sequence[int]) -> bool:
        if self._all_enabled:
            return self.takes(tier, hosts)
        return all(self.left(tier, host) >= count for host, count in Counter(hosts).items())

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
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

    def _no_rankings(self) -> None:
        """Drop the rankings; they are made again on demand."""
        self._rankings: dict[Tier, Ranking] = {}
        #: Hosts whose places differ from those in the ranking of the tier.
        self._changed: dict[Tier, set[int]] = {}

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


def _freed(run: Run, beyond: dict[int, int]) -> int:
    """Slots that become idle when a run ends.

    :param beyond: see `Hosts._beyond`; those that end are taken off it.
    """
    freed = 0
    for host in run.hosts:
        if beyond.get(host):
            beyond[host] -= 1
        else:
            freed += 1
    return freed
