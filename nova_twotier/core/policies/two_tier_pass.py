"""One pass of a two-tier policy: it changes the snapshot step by step, then tells the actions."""

import math
from collections.abc import Iterable, Mapping, Sequence

from nova_twotier.core.actions import BG, FG, Action, Evict, Kill, Move, Start, Tier, make_start
from nova_twotier.core.cluster import NOTHING, Run, make_run
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.policy import TENTATIVE, in_turn
from nova_twotier.core.policies.preemption import Holders, by_places
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.queue import Order
from nova_twotier.core.slots import is_hot
from nova_twotier.core.snapshot import Snapshot


class TwoTierPass:
    """The steps of a pass; each leaves the cluster and the queue consistent.

    :param kills: whether scavengers that make way lose their work, and whatever starts in the
        background starts on trial, the smallest first.
    """

    def __init__(self, snapshot: Snapshot, kills: bool = False):
        self._kills = kills
        self.cluster = snapshot.cluster
        self.queue = snapshot.queue
        #: The earlier runs of the jobs that were changed, by number; None if a job had none.
        self._before: dict[int, Run | None] = {}
        #: Whether any changed job ran before.
        self._removed = False
        self._preemptor: dict[int, Job] = {}
        self._killed: set[int] = set()
        self._tentative: set[int] = set()

    def remove(self, job: Job, by: Job | None = None) -> Run:
        """Take a job off its slots, to be started again or to wait.

        `by` is the preemptor; if the job loses one tier after the other, the first one counts.
        """
        run = self.cluster.remove(job)
        self._removed = True
        self._before.setdefault(job.number, run)
        if by is not None:
            self._preemptor.setdefault(job.number, by)
        return run

    def wait(self, job: Job) -> None:
        """Put a removed job into the queue, with its state saved."""
        self.queue.add(job)

    def kill(self, job: Job) -> None:
        """Put a removed job into the queue, with its work lost."""
        self._killed.add(job.number)
        self.queue.add(job)

    def start(self, job: Job, tier: Tier, promised: Mapping[int, int] = NOTHING) -> None:
        """Start a waiting job on the best places of the tier, but for those that are promised."""
        self.queue.remove(job)
        self._before.setdefault(job.number, None)
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
            if run.job.background and (self.cluster.holds(BG, run.hosts) or self._clear(run)):
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

    def _give_way(self, scavenger: Job) -> None:
        """Put a removed scavenger into the queue."""
        if self._kills:
            self.kill(scavenger)
        else:
            self.wait(scavenger)

    def promote(self, chosen: Iterable[Job], promoted: Mapping[int, Run]) -> None:
        """Start the chosen jobs in the foreground, those that run in the background on their hosts.

        Places of processes that can stay where they are come first: a swap is free.

        :param promoted: runs in the background, removed already, by job number and by arrival.
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
        """Start waiting jobs that fit the idle slots of a tier, by arrival."""
        idle, queue = self.cluster.idle, self.queue.allowed(tier)
        if queue.has_fitting(idle[tier]):
            for job in queue.fitting(idle, tier):
                self.start(job, tier)

    def fill_tentatively(self, tier: Tier) -> None:
        """Start waiting jobs that fit the idle slots of a tier, the smallest first, on trial."""
        idle, queue = self.cluster.idle, self.queue.allowed(tier)
        while queue.has_fitting(idle[tier]):
            job = queue.smallest_within(idle[tier])
            self.start(job, tier)
            self._tentative.add(job.number)

    def reclaim(self) -> None:
        """Start the waiting jobs of other classes that fit the background without scavengers.

        Of these the latest leave, and no more than each job needs.
        """
        evicted: list[Job] = []
        held = Holders(by_places(self.cluster.scavengers(), self.cluster.straddling(BG)))
        idle, queue = self.cluster.idle, self.queue.allowed(BG)
        reach = {BG: idle[BG] + held.slots}
        for job in queue.smallest_first(reach, BG) if self._kills else queue.fitting(reach, BG):
            if job.qos is SCAVENGER:
                break  # All others that would fit are scavengers, too.
            for victim in held.victims(job, idle[BG]):
                held.remove(victim)
                evicted.append(self.remove(victim, by=job).job)
            self.start(job, BG)
            if self._kills:
                self._tentative.add(job.number)
            reach[BG] -= job.size
        # The queue must not grow meanwhile.
        for victim in evicted:
            self._give_way(victim)

    def actions(self) -> list[Action]:
        """What leads from the cluster before to the one now, in a feasible order."""
        runs = self.cluster.runs
        starts: list[Action] = []
        if not self._removed:
            # By far the most frequent: most often one, for which a comprehension takes longer.
            for number in self._before:
                starts.append(self._started(runs[number]))
            if len(starts) > 1:
                starts.sort(key=_start_order)
            return starts
        preemptions: list[Action] = []
        demotions: list[Action] = []
        promotions: list[Action] = []
        for number, before in self._before.items():
            now = runs.get(number)
            if before is None:
                if now is not None:
                    starts.append(self._started(now))
                continue
            job = before.job
            if number in self._killed:
                preemptions.append(Kill(job, before.tier, self._preemptor[number]))
                if now is not None:
                    starts.append(self._started(now))
            elif now is None or (now.hosts != before.hosts and now.tier is BG):
                preemptions.append(Evict(job, before.tier, self._preemptor[number]))
                if now is not None:
                    starts.append(self._started(now))
            elif now.tier is not before.tier:
                preemptor = None if now.tier is FG else self._preemptor[number]
                move = Move(job, now.tier, before.hosts, now.hosts, preemptor)
                (promotions if now.tier is FG else demotions).append(move)
        if len(starts) > 1:
            starts.sort(key=_start_order)
        for kind in (preemptions, demotions, promotions):
            if len(kind) > 1:
                kind.sort(key=lambda action: action.job.order)
        return [*preemptions, *demotions, *promotions, *starts]

    def _started(self, run: Run) -> Start:
        job, tier, hosts, _pinned, _until = run
        how = TENTATIVE if job.number in self._tentative else in_turn(self.queue, job)
        return make_start((job, tier, hosts, how))

    def vacate_closed(self) -> None:
        """Evict background jobs, latest arrival first, until none is under a closed slot."""
        for host in self.cluster.overdue():
            while self.cluster.overfull(host):
                there = [run for run in self.cluster.on(BG, host) if not run.pinned]
                if not there:
                    break
                job = there[-1].job
                self.remove(job, by=self._closer(host))
                self.wait(job)

    def _closer(self, host: int) -> Job:
        """The foreground job that closes a slot of this host: the newest there."""
        closers = self.cluster.on(FG, host)
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


def _start_order(start: Action) -> tuple[bool, Order]:
    return start.tier is BG, start.job.order
