"""First come, first served: the head of the queue starts when it fits; nothing passes it."""

from nova_twotier.core.actions import Action, How, Start, Tier
from nova_twotier.core.jobs import Job
from nova_twotier.core.snapshot import Event, Snapshot


class Fcfs:
    name = "fcfs"

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        actions = []
        cluster = snapshot.cluster
        for job in snapshot.queue:
            if not cluster.fits(job, Tier.FG):
                break
            if not actions:
                cluster = cluster.copy()
            run = cluster.start(job, Tier.FG)
            actions.append(Start(job, Tier.FG, run.hosts, How.IMMEDIATE))
        return actions

    def reason(self, snapshot: Snapshot, job: Job) -> str:
        head = snapshot.queue[0]
        if job.number != head.number:
            return f"waits behind {head.label}"
        return f"needs {job.size} foreground slots, {snapshot.cluster.idle[Tier.FG]} idle"
