"""EASY that backfills the shortest estimate first (Tsafrir, Etsion and Feitelson 2007)."""

from nova_twotier.core.actions import FG, Action
from nova_twotier.core.jobs import Job, Order
from nova_twotier.core.policies.easy import Easy
from nova_twotier.core.policies.shadow import Shadow
from nova_twotier.core.snapshot import Snapshot


class EasySjf(Easy):
    name = "easy-sjf"
    summary = "As EASY, but of the jobs that do not delay the head, the shortest estimate is first."

    def turn(self, job: Job) -> tuple[int, float, Order]:
        """What the jobs behind the head are sorted by."""
        return job.precedence, job.expected, job.order

    def _beside_head(self, snapshot: Snapshot, now: float, actions: list[Action]) -> None:
        queue, idle = snapshot.queue.allowed(FG), snapshot.cluster.idle
        head = queue[0]
        shadow = Shadow(snapshot.cluster, head, now)
        # Room only shrinks meanwhile: who is refused once need not be asked again.
        for job in sorted(queue, key=self.turn):
            if job.number != head.number and shadow.admits(job, idle[FG]):
                actions.append(self._start(job, snapshot, now))
                if not queue.has_fitting(idle[FG]):
                    break
