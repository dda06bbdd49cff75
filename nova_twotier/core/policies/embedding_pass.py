"""The steps of a pass with two tiers on a cluster whose network guarantees bandwidth.

Symmetry 2018 embeds jobs in one tier; TPDS 2013 has two tiers, and no network. Here the foreground
never waits for the background either: it takes links that background jobs hold as it closes slots
above them, and as many of these jobs leave as the links require. Who may evict whom is as in TPDS
2013, Algorithm 1, with "enough slots" replaced by "an embedding".
"""

import heapq
from collections.abc import Mapping, Sequence
from typing import cast

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import NOTHING, Cluster, Run
from nova_twotier.core.jobs import MAX_SIZE, Job, Order
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies.turns import backfill_order
from nova_twotier.core.policies.two_tier_pass import TwoTierPass
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.queue import Queue
from nova_twotier.core.snapshot import Snapshot


class EmbeddingPass(TwoTierPass):
    """Jobs with bandwidth are embedded; the others take the best places of a tier."""

    def __init__(self, snapshot: Snapshot, shortest_first: bool = False):
        super().__init__(snapshot, shortest_first)
        #: The runs that lost the foreground in this pass, and have no slots.
        self._losing: dict[int, Run] = {}
        self._away = snapshot.away
        self._settling = snapshot.settling

    def place(self, job: Job, tier: Tier, promised: Mapping[int, int] = NOTHING) -> None:
        if job.mbps:
            self.cluster.start(job, tier)
        else:
            super().place(job, tier, promised)

    def fill(self, tier: Tier) -> None:
        for job in self.fitting(self.queue.allowed(tier), self.cluster.idle, tier):
            if self.cluster.fits(job, tier):
                self.start(job, tier)

    def rearrange(self, only_head: bool) -> None:
        """Give the foreground to waiting jobs and those in the background, by arrival.

        Those that do not fit evict later ones, if they fit without them. Who is evicted may come
        back in its turn, or stays on its hosts in the background, or waits.

        :param only_head: whether only the earliest that does not fit may evict; the others then
            backfill.
        """
        turns = self._turns()
        if only_head:
            if self._enter_by_arrival(turns, self._away):
                self._backfill([job for _order, job in turns])
        else:
            self._enter_each(turns)
        for run in self.demote(list(self._losing.values())):
            self.wait(run.job)

    def _enter_by_arrival(self, turns: list[tuple[Order, Job]], away: Order) -> bool:
        """Move candidates into the foreground by arrival, up to the first that has no room there
        even if it evicts all that it may.

        :param away: none behind this position may evict.
        :returns: whether others may have the slots that are left over.
        """
        while turns:
            _order, job = heapq.heappop(turns)
            if not self._fits(self.cluster, job):
                victims = self._victims(job, FG) if job.order < away else []
                if not victims:
                    if not (job.order < away and self._awaits(job)):
                        return True
                    self._spare()
                    return False
                self._line_up(victims, turns)
            self._enter(job)
        return True

    def _awaits(self, job: Job) -> bool:
        """Whether a job only waits until later ones may be evicted, see `Snapshot.settling`."""
        cleared = self.cluster.cleared(self._settling, job)
        return cleared is not None and self._fits(cleared, job)

    def _spare(self) -> None:
        """Let jobs that lost their slots and still fit keep them: they can be evicted later."""
        for run in sorted(self._losing.values(), key=_arrival):
            if self._stays(self.cluster, run):
                self._enter(run.job)

    def _backfill(self, jobs: list[Job]) -> None:
        """Move those of the jobs into the foreground that fit without evicting anyone."""
        for job in sorted(jobs, key=backfill_order(self._shortest_first)):
            if not self.cluster.idle[FG]:
                return
            if self._fits(self.cluster, job):
                self._enter(job)

    def _enter_each(self, turns: list[tuple[Order, Job]]) -> None:
        """Move candidates into the foreground by arrival; each of them may evict later jobs."""
        # Those for which there was no room even without all later jobs: nor is there for later ones
        # that ask for as much. To try each of thousands would take minutes.
        refused: list[Job] = []
        while turns:
            _order, job = heapq.heappop(turns)
            if not self._fits(self.cluster, job):
                if any(_asks_no_less(job, other) for other in refused):
                    continue
                victims = self._victims(job, FG)
                if not victims:
                    if self._awaits(job):
                        self._spare()
                        return
                    refused.append(job)
                    continue
                # What they leave may be enough for others.
                refused.clear()
                self._line_up(victims, turns)
            self._enter(job)

    def _turns(self) -> list[tuple[Order, Job]]:
        """A heap of the jobs that want the foreground, in the queue or in the background."""
        waiting, below = self.queue.allowed(FG), self.cluster.promotable
        turns = [(job.order, job) for job in (*waiting, *below)]
        heapq.heapify(turns)
        return turns

    def _line_up(self, victims: Sequence[Run], turns: list[tuple[Order, Job]]) -> None:
        """Let jobs that lost the foreground have their turn again."""
        for victim in victims:
            self._losing[victim.job.number] = victim
            heapq.heappush(turns, (victim.job.order, victim.job))

    def _fits(self, cluster: Cluster, job: Job) -> bool:
        """Whether a job has room in the foreground, on the hosts that it comes from or anywhere."""
        run = self._comes_from(job)
        return (run is not None and self._stays(cluster, run)) or cluster.fits(job, FG)

    def _comes_from(self, job: Job) -> Run | None:
        """Where a job is in the background, or was in the foreground until it was evicted."""
        return self._losing.get(job.number) or self.cluster.runs.get(job.number)

    def _stays(self, cluster: Cluster, run: Run) -> bool:
        return cluster.takes(FG, run.hosts) and cluster.carries(run.job, FG, run.hosts)

    def _enter(self, job: Job) -> None:
        """Put a job for which there is room into the foreground, on its own hosts if possible."""
        run = self._comes_from(job)
        if run is None:
            self.start(job, FG)
            return
        stays = self._stays(self.cluster, run)
        if job.number in self._losing:
            del self._losing[job.number]
        elif stays or not (job.mbps or self.kills):
            # Some of its processes may migrate.
            self.promote([job], {job.number: self.remove(job)})
            return
        else:
            # All of them would have to migrate at once, with their links: it starts anew.
            self.remove(job, by=job)
        if stays:
            self.put(job, FG, run.hosts)
        elif self.kills:
            self.kill(job)
            self.start(job, FG)
        else:
            self.place(job, FG)

    def _has_left(self, before: Run, now: Run | None) -> bool:
        if now is not None and now.job.mbps and now.hosts != before.hosts:
            return True
        return super()._has_left(before, now)

    def _victims(self, job: Job, tier: Tier) -> list[Run]:
        """Evict runs so that a job has room in a tier, the latest first and none in vain.

        :returns: the runs, which are off their slots; none if it has no room without all of them.
        """
        runs = self.cluster.evictable(job.order) if tier is FG else self.cluster.scavengers()
        if job.size > self.cluster.idle[tier] + sum(run.job.size for run in runs):
            return []
        trial = self.cluster.copy()
        leaving = [trial.remove(run.job) for run in reversed(runs)]
        if not self._has_room(trial, job, tier):
            return []
        # As few of the latest as are enough, found by halves: each embedding takes milliseconds.
        needed, most = 0, len(leaving)
        while needed < most:
            middle = (needed + most) // 2
            for run in leaving[middle:most]:
                trial.adopt(run)
            if self._has_room(trial, job, tier):
                most = middle
            else:
                for run in leaving[middle:most]:
                    trial.remove(run.job)
                needed = middle + 1
        # The smallest are spared if possible (TPDS 2013, section 4.1).
        victims = sorted(leaving[:most], key=lambda run: (run.job.size, run.job.order))
        for run in victims.copy():
            trial.adopt(run)
            if not self._has_room(trial, job, tier):
                break
            victims.remove(run)
        return [self.remove(run.job, by=job) for run in victims]

    def _has_room(self, cluster: Cluster, job: Job, tier: Tier) -> bool:
        return self._fits(cluster, job) if tier is FG else cluster.fits(job, BG)

    def reclaim(self) -> None:
        evicted: list[Run] = []
        for job in self._background(self.queue.allowed(BG)):
            if job.qos is SCAVENGER:
                break
            victims: Sequence[Run] = ()
            if not self.cluster.fits(job, BG):
                victims = self._victims(job, BG)
                if not victims:
                    continue
            self.start(job, BG)
            if self.kills:
                self._tentative.add(job.number)
            evicted += victims
        for run in evicted:
            self._give_way(run.job)

    def _background(self, waiting: Queue) -> list[Job]:
        """All jobs that wait for the background, in its order."""
        if self.kills:
            return waiting.smallest_of_each_class()
        return list(self.fitting(waiting, {BG: MAX_SIZE}, BG))

    def vacate_closed(self) -> None:
        """Also evict background jobs from links that are overbooked."""
        super().vacate_closed()
        self.free_links()

    def free_links(self) -> None:
        """Evict background jobs, latest arrival first, from links that the foreground has taken."""
        # A compiled subclass cannot give an attribute of its parent a narrower type.
        linked = cast("Linked", self.cluster)
        while links := linked.overbooked():
            takers = linked.carry(FG, links)
            holders = [run for run in linked.carry(BG, links) if not run.pinned]
            if not (takers and holders):
                break
            newest = [run for run in takers if run.job.number in self._before]
            job = holders[-1].job
            self.remove(job, by=(newest or takers)[-1].job)
            self._give_way(job)


def _arrival(run: Run) -> Order:
    return run.job.order


def _asks_no_less(job: Job, other: Job) -> bool:
    return job.size >= other.size and job.mbps >= other.mbps
