"""Small bandwidth demand first (Symmetry 2018, section 5.3.2)."""

from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.backfilling import Backfilling
from nova_twotier.core.queue import Queue


class Sbf(Backfilling):
    name = "sbf"
    summary = (
        "The job of the smallest bandwidth starts when it fits; nothing passes it. Others starve."
    )
    bandwidth = True

    def first(self, queue: Queue) -> Job:
        return min(queue, key=lambda job: (job.precedence, job.mbps, job.order))
