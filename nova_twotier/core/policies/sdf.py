"""Short duration first (Symmetry 2018, section 5.3.2)."""

from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.backfilling import Backfilling
from nova_twotier.core.queue import Queue


class Sdf(Backfilling):
    name = "sdf"
    summary = (
        "The job of the shortest estimate starts when it fits; nothing passes it. Long jobs starve."
    )

    def first(self, queue: Queue) -> Job:
        return min(queue, key=lambda job: (job.precedence, job.expected, job.order))
