"""Clusters whose network guarantees bandwidth: a job fits where its virtual cluster is embedded."""

import math
from collections import Counter
from collections.abc import Sequence

from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Cluster, Host, OutOfSlots, Run
from nova_twotier.core.embedding import (
    Embed,
    Embedding,
    OutOfRoom,
    Rejection,
    Request,
    State,
    Topology,
    adaba,
)
from nova_twotier.core.embedding.hose import embedding as embedded
from nova_twotier.core.jobs import Job


class Linked(Cluster):
    """Hosts of one tier, and the links between them.

    :param hosts: those of the topology, in any order.
    :param embed: which hosts take a job's VMs, an algorithm of `embedding`.
    :param max_mbps: Bmax, the largest bandwidth that a job asked for before.
    """

    def __init__(
        self,
        hosts: Sequence[Host],
        topology: Topology,
        embed: Embed = adaba.embed,
        max_mbps: int = 0,
    ):
        super().__init__([Host(host.name, host.slots, 1, host.enabled) for host in hosts])
        self._embed = embed
        #: The numbers of the hosts here by name, and in the topology by number here.
        self._index = {host.name: index for index, host in enumerate(hosts)}
        self._place = [topology.number[host.name] for host in hosts]
        #: What is left of hosts and links.
        self.state = State(
            topology,
            {host.name: host.slots for host in hosts},
            closed=[host.name for host in hosts if not host.enabled],
            max_mbps=max_mbps,
        )
        #: What each running job holds, and what was answered to waiting ones about this state.
        self.held: dict[int, Embedding] = {}
        self._answers: dict[int, Embedding | Rejection] = {}

    @classmethod
    def of(cls, topology: Topology, slots: int, embed: Embed = adaba.embed) -> "Linked":
        """Hosts of equal `slots`."""
        return cls([Host(name, slots) for name in topology.hosts], topology, embed)

    def _copy_places(self, twin: "Linked") -> None:
        super()._copy_places(twin)
        twin._embed, twin._index, twin._place = self._embed, self._index, self._place
        twin.state = self.state.copy()
        twin.held, twin._answers = dict(self.held), dict(self._answers)

    def saw(self, job: Job) -> None:
        """Take note of the bandwidth of a job that arrives (Symmetry 2018, Algorithm 1, line 1)."""
        before = self.state.max_mbps
        self.state.saw(Request.of(job).mbps)
        if self.state.max_mbps != before:
            self._answers.clear()

    def fits(self, job: Job, tier: Tier) -> bool:
        return job.size <= self.idle[tier] and isinstance(self._answer(job), Embedding)

    def need(self, job: Job, tier: Tier) -> str:
        if job.size > self.idle[tier]:
            return super().need(job, tier)
        answer = self._answer(job)
        if isinstance(answer, Rejection):
            return answer.reason
        # An embedding may find a place with less left that it has not found with more.
        return f"{job.size} VMs had no place when it was their turn; they are tried again"

    def _answer(self, job: Job) -> Embedding | Rejection:
        answer = self._answers.get(job.number)
        if answer is None:
            answer = self._answers[job.number] = self._embed(Request.of(job), self.state)
        return answer

    def start(
        self,
        job: Job,
        tier: Tier,
        hosts: Sequence[int] | None = None,
        until: float = math.inf,
    ) -> Run:
        if hosts is None:
            answer = self._answer(job)
            if isinstance(answer, Rejection):
                raise OutOfSlots(f"{job.label}: {answer.reason}")
            hosts = [self._index[host] for host, count in answer.vms.items() for _ in range(count)]
        return super().start(job, tier, hosts, until)

    def _occupy(self, run: Run) -> None:
        super()._occupy(run)
        held = self.held[run.job.number] = self._at(run)
        try:
            self.state.reserve(held)
        except OutOfRoom:
            self.state = self._overbooked(held)
        self._answers.clear()

    def _vacate(self, run: Run) -> None:
        super()._vacate(run)
        self.state.release(self.held.pop(run.job.number))
        self._answers.clear()

    def _at(self, run: Run) -> Embedding:
        """What a job holds of the network where it is."""
        vms = Counter(self._place[host] for host in run.hosts)
        switch = self._switch(min(vms), max(vms))
        return embedded(Request.of(run.job), self.state, switch, vms)

    def _switch(self, first: int, last: int) -> int:
        """The lowest switch above two hosts of the topology, and so above those between them."""
        topology = self.state.topology
        switch = topology.parent[first]
        while topology.span[switch][1] <= last:
            switch = topology.parent[len(topology.hosts) + switch]
        return switch

    def _overbooked(self, held: Embedding) -> State:
        """The state with a job that was observed where there is no room for it."""
        state, topology = self.state, self.state.topology
        free = dict(zip(topology.hosts, state.free, strict=True))
        residual = {link: state.residual[node] for link, node in topology.link.items()}
        for host, count in held.vms.items():
            free[host] -= count
        for link, mbps in held.mbps.items():
            residual[link] -= mbps
        slots = dict(zip(topology.hosts, state.slots, strict=True))
        closed = [topology.hosts[host] for host in state.closed]
        return State(
            topology, slots, free=free, residual=residual, closed=closed, max_mbps=state.max_mbps
        )
