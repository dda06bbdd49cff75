"""The loop of the two-tier policies with migration (TPDS 2013, section 4.2, Algorithms 2-4)."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from nova_twotier.core.actions import BG, FG, Action
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.embedding_pass import EmbeddingPass
from nova_twotier.core.policies.policy import Policy
from nova_twotier.core.policies.preemption import (
    Holders,
    Selection,
    by_places,
    kept_for,
    lacks,
    lacks_background,
    select,
)
from nova_twotier.core.policies.turns import select_in_turn
from nova_twotier.core.policies.two_tier_pass import TwoTierPass, reclaims
from nova_twotier.core.reasons import Reason
from nova_twotier.core.snapshot import BACKGROUND, FOREGROUND_CHANGED, Event, Snapshot


class Consolidation(Policy):
    """Foreground by arrival with preemption, background filled with whatever fits.

    A subclass says whether only the head of the queue may evict, and who takes places out of turn
    first.
    """

    tiers = 2
    embeds = True
    only_head: ClassVar[bool]
    #: Whether a job may arrive ahead of others that run. Then any event may lead to a preemption:
    #: an arrival, or the end of the earliest job in the background, whose turn is the next one's
    #: now. The queue manager asks again when a start is over, and has to get the same answer.
    reorders: ClassVar[bool] = False
    #: Whether those who take places out of turn (the background, and what the head of the queue
    #: leaves idle in the foreground) do so by relative deadline, the shortest first (deadline
    #: monotonic), instead of by arrival.
    shortest_first: ClassVar[bool] = False

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        cluster, idle = snapshot.cluster, snapshot.cluster.idle
        if cluster.embeds:
            return self._embed(snapshot, event)
        queue = snapshot.queue.allowed(FG)
        selection, fills = None, False
        if self._rearranges(snapshot, event):
            selection = self._select(snapshot)
        elif event is not BACKGROUND:
            fills = queue.has_fitting(idle[FG])
        below, scavenged = snapshot.queue.allowed(BG), cluster.has_scavengers
        if not (
            selection
            or fills
            or below.has_fitting(idle[BG])
            or cluster.overdue()
            or (scavenged and reclaims(snapshot))
        ):
            return []
        step = TwoTierPass(snapshot, self.shortest_first)
        # 1. The foreground: rearranged when it has changed; otherwise, an arrival takes idle slots.
        if selection:
            self._rearrange(step, selection)
        elif fills:
            step.fill(FG)
        # 2. Background jobs that now sit under a closed slot leave.
        step.vacate_closed()
        # 3. Scavengers make way for jobs that fit the background without them.
        if scavenged:
            step.reclaim()
        # 4. The background takes what fits, in its order.
        step.fill(BG)
        return step.actions()

    def _rearranges(self, snapshot: Snapshot, event: Event) -> bool:
        """Whether the foreground may be rearranged; else, an arrival may take idle slots."""
        return self.reorders or bool(snapshot.settling) or event in FOREGROUND_CHANGED

    def _embed(self, snapshot: Snapshot, event: Event) -> list[Action]:
        """Decide on a cluster that embeds jobs with bandwidth, in the steps of `schedule`."""
        step = EmbeddingPass(snapshot, self.shortest_first)
        if self._rearranges(snapshot, event):
            step.rearrange(self.only_head)
        elif event is not BACKGROUND:
            step.fill(FG)
        step.vacate_closed()
        if snapshot.cluster.has_scavengers:
            step.reclaim()
        step.fill(BG)
        return step.actions()

    def _select(self, snapshot: Snapshot) -> Selection | None:
        """Jobs to promote to the foreground, and those to demote for them."""
        queue, cluster = snapshot.queue.allowed(FG), snapshot.cluster
        below, evictable = cluster.promotable, cluster.evictable
        idle, straddling = cluster.idle[FG], cluster.straddling(FG)
        settling = snapshot.settling_slots
        if self.only_head:
            away, shortest_first = snapshot.away, self.shortest_first
            selection = select_in_turn(
                queue, below, evictable, idle, straddling, away, shortest_first, settling
            )
        else:
            selection = select(queue, below, evictable, idle, straddling, settling)
        return selection if selection.chosen else None

    def _rearrange(self, step: TwoTierPass, selection: Selection) -> None:
        """Promote the selected jobs to the foreground, and demote or evict the others."""
        losing = [step.remove(victim, by) for victim, by in selection.evicted.values()]
        below = step.cluster.runs
        promoted = {job.number: step.remove(job) for job in selection.chosen if job.number in below}
        for run in step.demote(losing):
            step.wait(run.job)
        step.promote(selection.chosen, promoted)

    def reasons(self, snapshot: Snapshot) -> Callable[[Job], Reason]:
        cluster = snapshot.cluster
        held = Holders(by_places(cluster.evictable(), cluster.straddling(FG)))
        return partial(self._reason, snapshot, held, kept_for(snapshot, held, self.only_head))

    def _reason(self, snapshot: Snapshot, held: Holders, keeper: Job | None, job: Job) -> Reason:
        idle, tier = snapshot.cluster.idle, FG if job.foreground else BG
        first, fits = None, job.size <= idle[tier]
        if fits and keeper is not None and keeper.order < job.order:
            first = keeper.number
        if fits and job.mbps and not (first and snapshot.cluster.fits(job, tier)):
            return snapshot.cluster.need(job, tier)
        if tier is BG:
            return lacks_background(job.size, idle[BG])
        below = idle[BG] if job.background else None
        return lacks(job.size, idle[FG], held.later(job), below, first)
