"""Smallest job first (JSS 2015, section 3.2.1)."""

from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.backfilling import Backfilling
from nova_twotier.core.queue import Queue


class Smjf(Backfilling):
    name = "smjf"
    summary = (
        "The job of the fewest processes starts when it fits; nothing passes it. Large jobs starve."
    )

    def first(self, queue: Queue) -> Job:
        return queue.smallest_job
