"""Clusters with guaranteed bandwidth: a job fits if its virtual cluster can be embedded.

With two tiers, the foreground is embedded as if nothing ran in the background, which gives up its
links as it gives up closed slots. The background is embedded in what both leave.
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.cluster import Host, OutOfSlots, Run, make_run
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
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.core.slots import THRESHOLD


class Linked(Hosts):
    """Hosts and the links between them.

    :param hosts: those of the topology, in any order.
    :param embed: an algorithm of `embedding`, which chooses the hosts of a job's VMs.
    :param max_mbps: Bmax, the largest bandwidth that a job has requested so far.
    :param threshold, rng: see `Hosts`.
    :param tiers: how many the policy uses. With one, what runs in the background keeps its links.
    :param states: the state of hosts and links by tier, if known; it is kept, not copied.
    :param runs: see `Hosts`.
    """

    embeds = True

    def __init__(
        self,
        hosts: Sequence[Host],
        topology: Topology,
        embed: Embed = adaba.embed,
        max_mbps: int = 0,
        threshold: float = THRESHOLD,
        rng: random.Random | None = None,
        tiers: int = 1,
        states: dict[Tier, State] | None = None,
        runs: Sequence[Run] = (),
    ):
        super().__init__(hosts, threshold, rng, runs)
        self._topology, self._embed = topology, embed
        #: The numbers of the hosts here by name, and in the topology by number here.
        self._index = {host.name: index for index, host in enumerate(hosts)}
        self._place = [topology.number[host.name] for host in hosts]
        #: Free places of the hosts and residual bandwidth of the links, as each tier may use them.
        self.states = states or _states(topology, hosts, tiers, max_mbps)
        #: The embedding of each running job, and the answers to waiting jobs in these states, by
        #: tier, size and bandwidth.
        self.held: dict[int, Embedding] = {}
        self._answers: dict[tuple[Tier, int, float], Embedding | Rejection] = {}
        for run in runs:
            self._hold(run)
        self._show_background(range(len(hosts)))

    @classmethod
    def of(
        cls, topology: Topology, slots: int, embed: Embed = adaba.embed, tiers: int = 1
    ) -> "Linked":
        """Hosts of equal `slots` and `tiers`, all of which the policy uses."""
        hosts = [Host(name, slots, tiers) for name in topology.hosts]
        return cls(hosts, topology, embed, tiers=tiers)

    def __reduce__(self) -> tuple[Any, ...]:
        # The runs do not tell all that the states hold: see `limit`. With states given, the largest
        # bandwidth and the number of tiers are theirs.
        known = self._topology, self._embed, 0, self.threshold, self.rng, 1, self.states
        return Linked, (self.hosts, *known), ([*self.runs.values()], self.held)

    def __setstate__(self, state: tuple[list[Run], dict[int, Embedding]]) -> None:
        runs, self.held = state
        for run in runs:
            self._enlist(run)
            self._count(run, 1)
        self._count_idle()
        self._show_background(range(len(self.hosts)))

    def copy(self) -> "Linked":
        states = {tier: state.copy() for tier, state in self.states.items()}
        twin = Linked((), self._topology, self._embed, states=states)
        self._copy_runs(twin)
        self._copy_counts(twin)
        twin._index, twin._place = self._index, self._place
        twin.held, twin._answers = dict(self.held), dict(self._answers)
        return twin

    def replace_hosts(self, hosts: Iterable[Host]) -> None:
        super().replace_hosts(hosts)
        closed = [host.name for host in self.hosts if not host.enabled]
        self.states = {tier: _changed(state, closed) for tier, state in self.states.items()}
        self._show_background(range(len(self.hosts)))
        self._answers.clear()

    def saw(self, job: Job) -> None:
        """Record the bandwidth of an arriving job (Symmetry 2018, Algorithm 1, line 1)."""
        mbps = Request.of(job).mbps
        if mbps > self.states[FG].max_mbps:
            for state in self.states.values():
                state.saw(mbps)
            self._answers.clear()

    def limit(self, left: Mapping[str, int]) -> None:
        """Limit the free Mbit/s of these links: jobs outside this cluster hold the rest."""
        for tier, state in self.states.items():
            given_up: Counter[str] = Counter()
            for number, held in self.held.items():
                if not self._counts(self.runs[number], tier):
                    given_up.update(held.mbps)
            state.limit({link: mbps + given_up[link] for link, mbps in left.items()})
        self._answers.clear()

    def fits(self, job: Job, tier: Tier) -> bool:
        # Without bandwidth, the slots may also be in several trees of the network.
        return job.size <= self.idle[tier] and (
            not job.mbps or isinstance(self._answer(job, tier), Embedding)
        )

    def need(self, job: Job, tier: Tier = FG) -> Reason:
        if job.size > self.idle[tier]:
            return super().need(job, tier)
        answer = self._answer(job, tier)
        if isinstance(answer, Rejection):
            return answer.reason
        # An embedding may find a place with less bandwidth left that it did not find with more.
        return waits.UNPLACED(size=job.size)

    def _state(self, tier: Tier) -> State:
        """The places and bandwidth that a tier may use; a policy with one tier has one state."""
        return self.states.get(tier) or self.states[FG]

    def _answer(self, job: Job, tier: Tier) -> Embedding | Rejection:
        kind = tier, job.size, job.mbps
        answer = self._answers.get(kind)
        if answer is None:
            answer = self._answers[kind] = self._embed(Request.of(job), self._state(tier))
        return answer

    def start(
        self,
        job: Job,
        tier: Tier,
        hosts: Sequence[int] | None = None,
        until: float = math.inf,
    ) -> Run:
        if hosts is not None:
            if not self.carries(job, tier, hosts):
                raise OutOfSlots(f"{job.label} has no bandwidth on the hosts chosen for it")
            return super().start(job, tier, hosts, until)
        answer = self._answer(job, tier)
        if isinstance(answer, Embedding):
            hosts = [self._index[host] for host, count in answer.vms.items() for _ in range(count)]
        elif job.mbps:
            raise OutOfSlots(f"{job.label}: {answer.reason}")
        return super().start(job, tier, hosts, until)

    def carries(self, job: Job, tier: Tier, hosts: Sequence[int]) -> bool:
        if not job.mbps:
            return True
        needs = self._at(make_run((job, tier, tuple(hosts), False, math.inf))).mbps
        residual, link = self._state(tier).residual, self._topology.link
        return all(mbps <= residual[link[name]] for name, mbps in needs.items())

    def overbooked(self) -> set[str]:
        """Links on which the background holds bandwidth that the foreground has taken."""
        state = self.states.get(BG)
        if state is None:
            return set()
        return {link for link, node in self._topology.link.items() if state.residual[node] < 0}

    def carry(self, tier: Tier, links: set[str]) -> list[Run]:
        """The runs of a tier that hold bandwidth of one of these links, by their jobs' arrival."""
        held = self.held
        return [run for run in self.walk(tier) if not links.isdisjoint(held[run.job.number].mbps)]

    def _occupy(self, run: Run) -> None:
        super()._occupy(run)
        self._hold(run)
        self._show_background(set(run.hosts))

    def _hold(self, run: Run) -> None:
        held = self.held[run.job.number] = self._at(run)
        for tier, state in self.states.items():
            if self._counts(run, tier):
                part = self._part(run, held, tier)
                try:
                    state.reserve(part)
                except OutOfRoom:
                    # It was observed without room, or the background has to make way.
                    self.states[tier] = _overbooked(state, part)
        self._answers.clear()

    def _vacate(self, run: Run) -> None:
        super()._vacate(run)
        held = self.held.pop(run.job.number)
        for tier, state in self.states.items():
            if self._counts(run, tier):
                state.release(self._part(run, held, tier))
        self._show_background(set(run.hosts))
        self._answers.clear()

    def _counts(self, run: Run, tier: Tier) -> bool:
        """Whether the bandwidth that a run holds counts as taken for a tier."""
        return run.tier is FG or tier is BG or run.pinned or BG not in self.states

    def _part(self, run: Run, held: Embedding, tier: Tier) -> Embedding:
        """What a run takes from a tier: the background's slots are counted by `Hosts`."""
        return held if run.tier is FG and tier is FG else replace(held, vms={})

    def _show_background(self, touched: Iterable[int]) -> None:
        """Show the embedding how many places are open and free in the background of some hosts."""
        state = self.states.get(BG)
        if state is not None:
            for host in touched:
                state.resize(self._place[host], self.room(BG, host))

    def _at(self, run: Run) -> Embedding:
        """The embedding of a job on its present hosts."""
        vms = Counter(self._place[host] for host in run.hosts)
        switch = self._switch(min(vms), max(vms))
        return embedded(Request.of(run.job), self.states[FG], switch, vms)

    def _switch(self, first: int, last: int) -> int:
        """The lowest switch above two hosts of the topology, and so above those between them.

        The last root if there is none: it comes after all links.
        """
        topology = self._topology
        switch = topology.parent[first]
        while switch >= 0 and topology.span[switch][1] <= last:
            switch = topology.parent[len(topology.hosts) + switch]
        return switch if switch >= 0 else len(topology.switches) - 1


def _states(
    topology: Topology, hosts: Sequence[Host], tiers: int, max_mbps: int
) -> dict[Tier, State]:
    """The states of an empty cluster, by tier."""
    closed = [host.name for host in hosts if not host.enabled]
    places = {FG: {host.name: host.slots for host in hosts}}
    if tiers > 1:
        places[BG] = {host.name: host.slots * (host.tiers - 1) for host in hosts}
    return {
        tier: State(topology, slots, closed=closed, max_mbps=max_mbps)
        for tier, slots in places.items()
    }


def _overbooked(state: State, held: Embedding) -> State:
    """A state from which an embedding was taken that it has no room for."""
    return _changed(state, [state.topology.hosts[host] for host in state.closed], held)


def _changed(state: State, closed: Sequence[str], held: Embedding | None = None) -> State:
    """A copy of a state with other closed hosts, from which an embedding is taken, if one is given,
    even if there is no room for it."""
    topology = state.topology
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
