"""Bandwidth-guaranteed Migration and BackFilling (Symmetry 2018, section 4.2)."""

from collections.abc import Iterable

from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.bandwidth import Guaranteeing
from nova_twotier.core.queue import Queue


class Bgmbf(Guaranteeing):
    name = "bgmbf"
    summary = (
        "Whatever fits passes a head that does not, by arrival, until the head fits without it."
    )

    def candidates(self, queue: Queue) -> Iterable[Job]:
        return queue
