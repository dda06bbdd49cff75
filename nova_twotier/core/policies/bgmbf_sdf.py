"""Bandwidth-guaranteed Migration and BackFilling, Short Duration First (Symmetry 2018, 4.2)."""

from collections.abc import Iterable

from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.bandwidth import Guaranteeing
from nova_twotier.core.queue import Queue


class BgmbfSdf(Guaranteeing):
    name = "bgmbf-sdf"
    summary = "As BgMBF, but the jobs of the shortest estimates pass first: fewer are suspended."

    def candidates(self, queue: Queue) -> Iterable[Job]:
        return sorted(queue, key=lambda job: (job.precedence, job.expected, job.order))
