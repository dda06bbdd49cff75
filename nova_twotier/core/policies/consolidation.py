"""The loop of the two-tier policies with migration (TPDS 2013, section 4.2, Algorithms 2-4)."""

from typing import ClassVar

from nova_twotier.core.actions import Action, Tier
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.play import Play
from nova_twotier.core.policies.preemption import held_by_later
from nova_twotier.core.snapshot import Event, Snapshot


class Consolidation:
    """Foreground by arrival with preemption, background filled with whatever fits.

    A subclass says whether only the head of the queue may evict.
    """

    name: ClassVar[str]
    only_head: ClassVar[bool]

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        play = Play(snapshot)
        # 1. The foreground: rearranged when it has changed; an arrival only takes idle slots.
        if Event.FOREGROUND in event:
            play.rearrange(self.only_head)
        elif Event.ARRIVAL in event:
            play.fill(Tier.FG)
        # 2. Background jobs that now sit under a closed slot leave.
        play.vacate_closed()
        # 3. The background takes what fits, by arrival.
        play.fill(Tier.BG)
        return play.actions()

    def reason(self, snapshot: Snapshot, job: Job) -> str:
        cluster = snapshot.cluster
        holders = [run.job for run in cluster.running(Tier.FG)]
        reason = f"needs {job.size} foreground slots, {cluster.idle[Tier.FG]} idle"
        if later := held_by_later(job, holders):
            reason += f" + {later} held by later arrivals"
        return f"{reason}; or {job.size} background slots, {cluster.idle[Tier.BG]} open and idle"
