"""Requests for virtual clusters, and their answers: an embedding or a rejection."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from nova_twotier.core.jobs import Job, check_size
from nova_twotier.core.reasons import Reason


class InvalidRequest(ValueError):
    """A request that cannot be described; the message says which field and what it may be."""


@dataclass(frozen=True, slots=True)
class Request:
    """A virtual cluster <N, B>: N VMs, each linked to one virtual switch (Oktopus' hose model).

    :param size: number of VMs N, at least 1.
    :param mbps: bandwidth B of each VM's link in Mbit/s: a whole number, as Placement counts; 0
        asks for slots alone.
    :raises InvalidJob: if `size` is out of its range.
    :raises InvalidRequest: if `mbps` is.
    """

    size: int
    mbps: int

    def __post_init__(self):
        check_size(self.size)
        if not isinstance(self.mbps, int) or isinstance(self.mbps, bool) or self.mbps < 0:
            raise InvalidRequest(f"mbps is {self.mbps!r}; give whole Mbit/s, 0 or more")

    @classmethod
    def of(cls, job: Job) -> "Request":
        """What a job asks for; a fraction of a Mbit/s counts as a whole one."""
        return cls(job.size, math.ceil(job.mbps))

    def hose(self, below: int) -> int:
        """Mbit/s that a link needs with `below` of the N VMs under it: min(m, N - m) * B.

        Symmetry 2018, equation 6, after Oktopus: no more crosses the link than its smaller side
        sends or takes.
        """
        return min(below, self.size - below) * self.mbps


@dataclass(frozen=True, slots=True)
class Embedding:
    """The placement of a virtual cluster, and the bandwidth that it reserves.

    :param request: what it is an answer to.
    :param vms: VMs by host, in the order of the topology; only hosts that have some.
    :param switch: path of the switch that carries the virtual switch: all VMs are below it.
    :param mbps: Mbit/s by link, only links that carry some; a link is named after its lower end
        (the host, or the path of a switch), as in the ledger.
    """

    request: Request
    vms: Mapping[str, int]
    switch: str
    mbps: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Rejection:
    """The reason why a request is not embedded."""

    reason: Reason
