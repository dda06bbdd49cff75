"""Clusters with guaranteed bandwidth: a job fits if its virtual cluster can be embedded."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from nova_twotier.core.actions import FG, Tier
from nova_twotier.core.cluster import Cluster, Host, OutOfSlots, Run, make_run
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
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.core.slots import THRESHOLD


class Linked(Cluster):
    """Hosts and the links between them. Jobs are embedded in the foreground.

    :param hosts: those of the topology, in any order.
    :param embed: an algorithm of `embedding`, which chooses the hosts of a job's VMs.
    :param max_mbps: Bmax, the largest bandwidth that a job has requested so far.
    :param threshold: see `Cluster`.
    :param state: state of hosts and links, if known; it is kept, not copied.
    :param runs: see `Cluster`.
    """

    def __init__(
        self,
        hosts: Sequence[Host],
        topology: Topology,
        embed: Embed = adaba.embed,
        max_mbps: int = 0,
        threshold: float = THRESHOLD,
        state: State | None = None,
        runs: Sequence[Run] = (),
    ):
        super().__init__(hosts, threshold, runs=runs)
        self._embed = embed
        #: The numbers of the hosts here by name, and in the topology by number here.
        self._index = {host.name: index for index, host in enumerate(hosts)}
        self._place = [topology.number[host.name] for host in hosts]
        #: Free slots of the hosts and residual bandwidth of the links.
        self.state = state or State(
            topology,
            {host.name: host.slots for host in hosts},
            closed=[host.name for host in hosts if not host.enabled],
            max_mbps=max_mbps,
        )
        #: The embedding of each running job, and the answers to waiting jobs in this state, by size
        #: and bandwidth.
        self.held: dict[int, Embedding] = {}
        self._answers: dict[tuple[int, float], Embedding | Rejection] = {}
        for run in runs:
            self._hold(run)

    @classmethod
    def of(cls, topology: Topology, slots: int, embed: Embed = adaba.embed) -> "Linked":
        """Hosts of one tier and equal `slots`."""
        return cls([Host(name, slots, tiers=1) for name in topology.hosts], topology, embed)

    def copy(self) -> "Linked":
        twin = Linked((), self.state.topology, self._embed, state=self.state.copy())
        self._copy_runs(twin)
        self._copy_counts(twin)
        twin._index, twin._place = self._index, self._place
        twin.held, twin._answers = dict(self.held), dict(self._answers)
        return twin

    def replace_hosts(self, hosts: Iterable[Host]) -> None:
        super().replace_hosts(hosts)
        closed = [host.name for host in self.hosts if not host.enabled]
        self.state = self._state_with(closed=closed)
        self._answers.clear()

    def saw(self, job: Job) -> None:
        """Record the bandwidth of an arriving job (Symmetry 2018, Algorithm 1, line 1)."""
        before = self.state.max_mbps
        self.state.saw(Request.of(job).mbps)
        if self.state.max_mbps != before:
            self._answers.clear()

    def limit(self, left: Mapping[str, int]) -> None:
        """Limit the free Mbit/s of these links: jobs outside this cluster hold the rest."""
        self.state.limit(left)
        self._answers.clear()

    def fits(self, job: Job, tier: Tier) -> bool:
        # Without bandwidth, the slots may also be in several trees of the network.
        return job.size <= self.idle[tier] and (
            not job.mbps or isinstance(self._answer(job), Embedding)
        )

    def need(self, job: Job) -> Reason:
        if job.size > self.idle[FG]:
            return super().need(job)
        answer = self._answer(job)
        if isinstance(answer, Rejection):
            return answer.reason
        # An embedding may find a place with less bandwidth left that it did not find with more.
        return waits.UNPLACED(size=job.size)

    def _answer(self, job: Job) -> Embedding | Rejection:
        kind = job.size, job.mbps
        answer = self._answers.get(kind)
        if answer is None:
            answer = self._answers[kind] = self._embed(Request.of(job), self.state)
        return answer

    def start(
        self,
        job: Job,
        tier: Tier,
        hosts: Sequence[int] | None = None,
        until: float = math.inf,
    ) -> Run:
        if hosts is not None:
            if not self._carries(job, tier, hosts):
                raise OutOfSlots(f"{job.label} has no bandwidth on the hosts chosen for it")
            return super().start(job, tier, hosts, until)
        answer = self._answer(job)
        if isinstance(answer, Embedding):
            hosts = [self._index[host] for host, count in answer.vms.items() for _ in range(count)]
        elif job.mbps:
            raise OutOfSlots(f"{job.label}: {answer.reason}")
        return super().start(job, tier, hosts, until)

    def _carries(self, job: Job, tier: Tier, hosts: Sequence[int]) -> bool:
        """Whether the links have enough free bandwidth for a job on these hosts."""
        if not job.mbps:
            return True
        needs = self._at(make_run((job, tier, tuple(hosts), False, math.inf))).mbps
        residual, link = self.state.residual, self.state.topology.link
        return all(mbps <= residual[link[name]] for name, mbps in needs.items())

    def _occupy(self, run: Run) -> None:
        super()._occupy(run)
        self._hold(run)

    def _hold(self, run: Run) -> None:
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
        """The embedding of a job on its present hosts."""
        vms = Counter(self._place[host] for host in run.hosts)
        switch = self._switch(min(vms), max(vms))
        held = embedded(Request.of(run.job), self.state, switch, vms)
        # Jobs are embedded in foreground slots only.
        return held if run.tier is FG else replace(held, vms={})

    def _switch(self, first: int, last: int) -> int:
        """The lowest switch above two hosts of the topology, and so above those between them.

        The last root if there is none: it comes after all links.
        """
        topology = self.state.topology
        switch = topology.parent[first]
        while switch >= 0 and topology.span[switch][1] <= last:
            switch = topology.parent[len(topology.hosts) + switch]
        return switch if switch >= 0 else len(topology.switches) - 1

    def _overbooked(self, held: Embedding) -> State:
        """The state with an observed job for which there is no room."""
        topology = self.state.topology
        return self._state_with([topology.hosts[host] for host in self.state.closed], held)

    def _state_with(self, closed: Sequence[str], held: Embedding | None = None) -> State:
        """The state with other closed hosts, and with an observed job."""
        state, topology = self.state, self.state.topology
        free = dict(zip(topology.hosts, state.free, strict=True))
        residual = {link: state.residual[node] for link, node in topology.link.items()}
        for host, count in held.vms.items() if held else ():
            free[host] -= count
        for link, mbps in held.mbps.items() if held else ():
            residual[link] -= mbps
        slots = dict(zip(topology.hosts, state.slots, strict=True))
        return State(
            topology, slots, free=free, residual=residual, closed=closed, max_mbps=state.max_mbps
        )
