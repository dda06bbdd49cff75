"""One pass of a two-tier policy, played out on a copy of the cluster and read back as actions."""

from collections import Counter
from collections.abc import Iterable

from nova_twotier.core.actions import Action, Evict, How, Move, Start, Tier
from nova_twotier.core.cluster import Run
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.preemption import select
from nova_twotier.core.ranking import is_hot
from nova_twotier.core.snapshot import Snapshot


class Play:
    """The steps of a pass; each leaves the cluster consistent."""

    def __init__(self, snapshot: Snapshot):
        self.before = snapshot.cluster
        self.cluster = snapshot.cluster.copy()
        self.waiting = {job.number: job for job in snapshot.queue}
        self._preemptor: dict[int, Job] = {}

    def rearrange(self, only_head: bool) -> None:
        """Give the foreground to those to whom it belongs, waiting or in the background."""
        background = self.cluster.running(Tier.BG)
        rising = {run.job.number: run for run in background if not run.pinned}
        selection = select(
            [*self.waiting.values(), *(run.job for run in rising.values())],
            [run.job for run in self.cluster.running(Tier.FG) if self.cluster.frees(run)],
            self.cluster.idle[Tier.FG],
            only_head,
        )
        chosen = {job.number for job in selection.chosen}
        rising = {number: run for number, run in rising.items() if number in chosen}
        losing = []
        for victim, preemptor in selection.evicted.values():
            self._preemptor[victim.number] = preemptor
            losing.append(self.cluster.remove(victim))
        for run in rising.values():
            self.cluster.remove(run.job)
        for run in sorted(losing, key=lambda run: (run.job.size, run.job.order)):
            self._swap_down(run)
        # Places of those that can stay where they are come first: a swap is free, a migration not.
        staying = self._staying(rising.values())
        for job in selection.chosen:
            if job.number in rising:
                self._rise(job, staying)
            else:
                places = self.cluster.rank(Tier.FG, job.size, self._promised(staying))
                self.cluster.start(job, Tier.FG, places)
                del self.waiting[job.number]

    def _swap_down(self, run: Run) -> None:
        """Leave a job that lost the foreground on its hosts, if the background has room on all."""
        if all(self.cluster.room(Tier.BG, h) >= n for h, n in Counter(run.hosts).items()):
            self.cluster.start(run.job, Tier.BG, run.hosts)
        else:
            self.waiting[run.job.number] = run.job

    def _staying(self, rising: Iterable[Run]) -> dict[int, list[int | None]]:
        """For each process that rises: its own host if the foreground there has room, else None."""
        promised = Counter()
        staying = {}
        for run in sorted(rising, key=lambda run: run.job.order):
            places = staying[run.job.number] = []
            for host in run.hosts:
                stays = promised[host] < self.cluster.room(Tier.FG, host)
                promised[host] += stays
                places.append(host if stays else None)
        return staying

    @staticmethod
    def _promised(staying: dict[int, list[int | None]]) -> Counter:
        """Foreground places by host that are kept for processes that swap in place."""
        return Counter(host for places in staying.values() for host in places if host is not None)

    def _rise(self, job: Job, staying: dict[int, list[int | None]]) -> None:
        """Start a job from the background in the foreground, its remaining processes elsewhere."""
        places = staying[job.number]
        others = iter(
            self.cluster.rank(Tier.FG, places.count(None), self._promised(staying))
            if None in places
            else ()
        )
        del staying[job.number]
        hosts = [next(others) if host is None else host for host in places]
        self.cluster.start(job, Tier.FG, hosts)

    def vacate_closed(self) -> None:
        """Evict background jobs, latest arrival first, until none is under a closed slot."""
        for host in range(len(self.cluster.hosts)):
            while self.cluster.overfull(host):
                background = self.cluster.running(Tier.BG)
                there = [run for run in background if host in run.hosts and not run.pinned]
                if not there:
                    break
                job = there[-1].job
                self.cluster.remove(job)
                self.waiting[job.number] = job
                self._preemptor[job.number] = self._closer(host)

    def _closer(self, host: int) -> Job:
        """The foreground job that closes a slot of this host: the newest there."""
        closers = [
            run
            for run in self.cluster.running(Tier.FG)
            for at, cpu in zip(run.hosts, run.job.cpu, strict=True)
            if at == host and is_hot(cpu, self.cluster.threshold)
        ]
        newest = [run for run in closers if self.before.runs.get(run.job.number) != run]
        return (newest or closers)[-1].job

    def fill(self, tier: Tier) -> None:
        """Start waiting jobs that fit the idle slots of a tier, by arrival."""
        for job in sorted(self.waiting.values(), key=lambda job: job.order):
            if self.cluster.fits(job, tier):
                self.cluster.start(job, tier)
                del self.waiting[job.number]

    def actions(self) -> list[Action]:
        """What leads from the cluster before to the one now, in a feasible order."""
        before, after = self.before.runs, self.cluster.runs
        evictions, falls, rises, starts = [], [], [], []
        for number, run in before.items():
            now = after.get(number)
            if now is None or (now.hosts != run.hosts and now.tier is Tier.BG):
                evictions.append(Evict(run.job, run.tier, self._preemptor[number]))
            elif now.tier is not run.tier:
                preemptor = self._preemptor.get(number)
                move = Move(run.job, now.tier, run.hosts, now.hosts, preemptor)
                (rises if now.tier is Tier.FG else falls).append(move)
        evicted = {action.job.number for action in evictions}
        for number, run in after.items():
            if number not in before or number in evicted:
                starts.append(Start(run.job, run.tier, run.hosts, self._how(run.job)))
        starts.sort(key=lambda start: (start.tier is Tier.BG, start.job.order))
        for moved in (evictions, falls, rises):
            moved.sort(key=lambda action: action.job.order)
        return [*evictions, *falls, *rises, *starts]

    def _how(self, job: Job) -> How:
        passed = any(other.order < job.order for other in self.waiting.values())
        return How.BACKFILLED if passed else How.IMMEDIATE
