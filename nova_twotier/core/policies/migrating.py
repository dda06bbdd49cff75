"""The loop of the one-tier policies with preemption (TPDS 2013, section 4.1, Algorithm 1)."""

from typing import ClassVar

from nova_twotier.core.actions import Action, Evict, Start, Tier
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.policy import Policy, in_turn
from nova_twotier.core.policies.preemption import held_by_later, select
from nova_twotier.core.snapshot import Event, Snapshot


class Migrating(Policy):
    """Jobs pass earlier ones that do not fit, and are evicted when those do.

    A subclass says whether only the head of the queue may evict.
    """

    only_head: ClassVar[bool]

    def play(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        cluster, queue = snapshot.cluster, snapshot.queue
        if not queue:
            return []
        idle = cluster.idle[Tier.FG]
        selection = select(queue, (), cluster.evictable(), idle, self.only_head)
        evictions, starts = [], []
        for victim, preemptor in selection.evicted.values():
            cluster.remove(victim)
            queue.add(victim)
            evictions.append(Evict(victim, Tier.FG, preemptor))
        for job in selection.chosen:
            queue.remove(job)
        for job in selection.chosen:
            run = cluster.start(job, Tier.FG)
            starts.append(Start(job, Tier.FG, run.hosts, in_turn(queue, job)))
        return [*evictions, *starts]

    def reason(self, snapshot: Snapshot, job: Job) -> str:
        return foreground_need(snapshot, job)


def foreground_need(snapshot: Snapshot, job: Job) -> str:
    """What a job needs of the foreground, and what there is for it."""
    cluster = snapshot.cluster
    reason = f"needs {job.size} foreground slots, {cluster.idle[Tier.FG]} idle"
    if later := held_by_later(job, (run.job for run in cluster.evictable())):
        reason += f" + {later} held by later arrivals"
    return reason
