"""The steps of a pass that only policies with two tiers have."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import NOTHING, Run, make_run
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.preemption import Holders, by_places
from nova_twotier.core.policies.scheduling_pass import Pass
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.queue import Queue
from nova_twotier.core.slots import is_hot
from nova_twotier.core.snapshot import Snapshot


class TwoTierPass(Pass):
    """Jobs run in the foreground, or in the background on what it leaves.

    :param shortest_first: whether jobs backfill by relative deadline, the shortest first, not by
        arrival.
    """

    #: Whether background jobs that make way lose their work, and whatever takes the places of
    #: scavengers starts on trial, the smallest first.
    kills: ClassVar[bool] = False

    def __init__(self, snapshot: Snapshot, shortest_first: bool = False):
        super().__init__(snapshot)
        self._shortest_first = shortest_first

    def start(self, job: Job, tier: Tier, promised: Mapping[int, int] = NOTHING) -> None:
        """Start a waiting job on the best places of the tier, but for those that are promised."""
        self.queue.remove(job)
        self._before.setdefault(job.number, None)
        self.place(job, tier, promised)

    def place(self, job: Job, tier: Tier, promised: Mapping[int, int] = NOTHING) -> None:
        """Put a job on the best places of a tier; it must hold no slots, and not wait."""
        self.put(job, tier, job.hand_out(self.cluster.rank(tier, job.size, promised)))

    def put(self, job: Job, tier: Tier, hosts: Iterable[int]) -> None:
        """Start a job that was removed, from its slots or from the queue, on free `hosts`."""
        self.cluster.adopt(make_run((job, tier, tuple(hosts), False, math.inf)))

    def demote(self, runs: Sequence[Run]) -> list[Run]:
        """Leave jobs that lost the foreground on their hosts, if the background has room on all,
        and they may run there.

        :param runs: as they were; the smallest come first (TPDS 2013, section 4.2).
        :returns: those for which there is no room.
        """
        left: list[Run] = []
        if not runs:
            return left
        for run in sorted(runs, key=lambda run: (run.job.size, run.job.order)):
            if (
                run.job.background
                and self.cluster.carries(run.job, BG, run.hosts)
                and (self.cluster.holds(BG, run.hosts) or self._clear(run))
            ):
                self.put(run.job, BG, run.hosts)
            else:
                left.append(run)
        return left

    def _clear(self, run: Run) -> bool:
        """Evict scavengers from the hosts of a job that lost the foreground, the latest first, if
        it has room in the background there without them; returns whether it has."""
        if not self.cluster.has_scavengers:
            return False
        room = {host: self.cluster.left(BG, host) - run.hosts.count(host) for host in run.hosts}
        leaving = []
        for other in reversed(self.cluster.scavengers()):
            if any(room.get(host, 0) < 0 for host in other.hosts):
                leaving.append(other.job)
                for host in other.hosts:
                    if host in room:
                        room[host] += 1
        if min(room.values()) < 0:
            return False
        for scavenger in leaving:
            self.remove(scavenger, by=run.job)
            self._give_way(scavenger)
        return True

    def _give_way(self, job: Job) -> None:
        """Put a removed background job into the queue."""
        if self.kills:
            self.kill(job)
        else:
            self.wait(job)

    def promote(self, chosen: Iterable[Job], promoted: Mapping[int, Run]) -> None:
        """Start the chosen jobs in the foreground, those that run in the background on their hosts.

        Places of processes that can stay where they are come first: a swap is free.

        :param promoted: runs in the background, removed already, by job number, in turn.
        """
        partly = []
        for run in promoted.values():
            if self.cluster.takes(FG, run.hosts):
                self.put(run.job, FG, run.hosts)
            else:
                partly.append(run)
        promised: dict[int, int] = {}
        keep = self.cluster.keep
        staying = {run.job.number: keep(FG, run.hosts, promised) for run in partly}
        for job in chosen:
            if job.number in staying:
                self.put(job, FG, self._mixed(promoted[job.number], staying[job.number], promised))
            elif job.number not in promoted:
                self.start(job, FG, promised)

    def _mixed(self, run: Run, staying: Sequence[bool], promised: dict[int, int]) -> list[int]:
        """The hosts of the processes that stay, and the best free hosts for the others."""
        others = iter(self.cluster.rank(FG, staying.count(False), promised))
        mixed = list(run.hosts)
        for process in run.job.dispatch or range(run.job.size):
            if staying[process]:
                promised[mixed[process]] -= 1
            else:
                mixed[process] = next(others)
        return mixed

    def fill(self, tier: Tier) -> None:
        """Start waiting jobs that fit the idle slots of a tier, in its order."""
        idle, queue = self.cluster.idle, self.queue.allowed(tier)
        if tier is BG and self._shortest_first:
            for job in queue.shortest_first(idle, tier):
                self.start(job, tier)
        else:
            while (first := queue.earliest_within(idle[tier])) is not None:
                self.start(first, tier)

    def fitting(self, queue: Queue, idle: Mapping[Tier, int], tier: Tier) -> Iterator[Job]:
        """Each job of a queue that fits the idle slots of a tier when its turn there comes."""
        if tier is BG and self._shortest_first:
            return queue.shortest_first(idle, tier)
        return queue.fitting(idle, tier)

    def reclaim(self) -> None:
        """Start the waiting jobs of other classes that fit the background without scavengers.

        Of these the latest leave, and no more than each job needs.
        """
        evicted: list[Job] = []
        held = Holders(by_places(self.cluster.scavengers(), self.cluster.straddling(BG)))
        idle, queue = self.cluster.idle, self.queue.allowed(BG)
        reach = {BG: idle[BG] + held.slots}
        turns = queue.smallest_first(reach, BG) if self.kills else self.fitting(queue, reach, BG)
        for job in turns:
            if job.qos is SCAVENGER:
                break  # All others that would fit are scavengers, too.
            for victim in held.victims(job, idle[BG]):
                held.remove(victim)
                evicted.append(self.remove(victim, by=job).job)
            self.start(job, BG)
            if self.kills:
                self._tentative.add(job.number)
            reach[BG] -= job.size
        # The queue must not grow meanwhile.
        for victim in evicted:
            self._give_way(victim)

    def vacate_closed(self) -> None:
        """Evict background jobs, latest arrival first, until none is under a closed slot."""
        cluster, overdue = self.cluster, self.cluster.overdue()
        if not overdue:
            return
        above, below = cluster.on(FG, overdue), cluster.on(BG, overdue)
        for host in overdue:
            there = [run for run in below[host] if not run.pinned]
            while there and cluster.overfull(host):
                job = there.pop().job
                if job.number in cluster.runs:  # it may have had to leave another of its hosts
                    self.remove(job, by=self._closer(host, above[host]))
                    self.wait(job)

    def _closer(self, host: int, closers: list[Run]) -> Job:
        """The foreground job that closes a slot of this host: the newest there.

        :param closers: the foreground runs of the host, one of which closes a slot at least.
        """
        if len(closers) > 1:
            closers = [run for run in closers if self._closes(run, host)]
        newest = [run for run in closers if run.job.number in self._before]
        return (newest or closers)[-1].job

    def _closes(self, run: Run, host: int) -> bool:
        return any(
            at == host and is_hot(cpu, self.cluster.threshold)
            for at, cpu in zip(run.hosts, run.job.cpu, strict=True)
        )


def reclaims(snapshot: Snapshot) -> bool:
    """Whether a waiting job of another class may fit the background without scavengers."""
    cluster, queue = snapshot.cluster, snapshot.queue.allowed(BG)
    first = queue.head
    if first is None or first.qos is SCAVENGER:
        return False
    held = sum([run.job.size for run in by_places(cluster.scavengers(), cluster.straddling(BG))])
    return queue.has_fitting(cluster.idle[BG] + held)
