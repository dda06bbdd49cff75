"""EASY that backfills the smallest estimated area first (Carastan-Santos et al., CCGrid 2019)."""

from nova_twotier.core.jobs import Job, Order
from nova_twotier.core.policies.easy_sjf import EasySjf


class EasySaf(EasySjf):
    name = "easy-saf"
    summary = "As EASY, but of the jobs that do not delay the head, the smallest area is first."

    def turn(self, job: Job) -> tuple[int, float, Order]:
        return job.precedence, job.size * job.expected, job.order
