"""The learned orders F1 to F4 (Carastan-Santos and de Camargo, SC 2017, Table 3): the least first.

r is the estimate, n the number of processes, s the arrival in seconds since the trace began. The
weight of s was fitted to workloads of a few days; it bounds no wait. So they are for comparisons.
"""

import math

from nova_twotier.core.jobs import Job
from nova_twotier.core.policies.amcbf import Amcbf
from nova_twotier.core.policies.easy import Easy


def f4(job: Job) -> float:
    return math.sqrt(job.size) * job.expected + 5.30e5 * _log_arrival(job)


def _log_arrival(job: Job) -> float:
    return math.log10(max(1.0, job.arrival))


class EasyF1(Easy):
    name = "easy-f1"
    summary = "EASY in the learned order F1 (SC 2017, Table 3); large jobs may starve."

    def rank(self, job: Job) -> float:
        return math.log10(max(1.0, job.expected)) * job.size + 8.70e2 * _log_arrival(job)


class EasyF2(Easy):
    name = "easy-f2"
    summary = "EASY in the learned order F2 (SC 2017, Table 3); large jobs may starve."

    def rank(self, job: Job) -> float:
        return math.sqrt(job.expected) * job.size + 2.56e4 * _log_arrival(job)


class EasyF3(Easy):
    name = "easy-f3"
    summary = "EASY in the learned order F3 (SC 2017, Table 3); large jobs may starve."

    def rank(self, job: Job) -> float:
        return job.expected * job.size + 6.86e6 * _log_arrival(job)


class EasyF4(Easy):
    name = "easy-f4"
    summary = "EASY in the learned order F4 (SC 2017, Table 3); large jobs may starve."

    def rank(self, job: Job) -> float:
        return f4(job)


class AmcbfF4(Amcbf):
    """F4 with two tiers, to tell what the order does from what the tiers do."""

    name = "amcbf-f4"
    summary = "AMCBF in the learned order F4; large jobs may starve."
    reorders = True

    def rank(self, job: Job) -> float:
        return f4(job)


POLICIES = (EasyF1, EasyF2, EasyF3, EasyF4, AmcbfF4)
