"""Oktopus' locality-aware embedding (Ballani 2011, algorithm 1)."""

from nova_twotier.core.embedding.hose import embedding
from nova_twotier.core.embedding.reach import Reach
from nova_twotier.core.embedding.rejection import rejection
from nova_twotier.core.embedding.request import Embedding, Rejection, Request
from nova_twotier.core.embedding.state import State


def embed(request: Request, state: State) -> Embedding | Rejection:
    """The first host that takes all VMs, else the first of the lowest switches that can.

    Below it, each child in the order of the topology takes as many as it can of what is left, at
    most its max(M_v) (see `Reach`). Not every smaller number passes its link (see `Hose`); it takes
    the largest that does. Where VMs are left over in the end, the search goes on: the algorithm
    does not say what happens then.
    """
    host = _host(request, state)
    if host is not None:
        return embedding(request, state, state.topology.parent[host], {host: request.size})
    reach = Reach(request, state)
    for switch, count in enumerate(reach.below):
        if count >= request.size:
            vms = _below(switch, request.size, state, reach)
            if sum(vms.values()) == request.size:
                return embedding(request, state, switch, vms)
    return rejection(request, state)


def _host(request: Request, state: State) -> int | None:
    """The first host with free slots for all: nothing of it crosses a link."""
    suited = (hosts[0] for (free, _slots), hosts in state.kinds.items() if free >= request.size)
    return min(suited, default=None)


def _below(switch: int, count: int, state: State, reach: Reach) -> dict[int, int]:
    """VMs by host: at most `count`, as many of them as one child after the other takes."""
    vms: dict[int, int] = {}
    for child in state.topology.children[switch]:
        if not count:
            break
        taken = _child(child, min(count, reach.up[child]), state, reach)
        vms |= taken
        count -= sum(taken.values())
    return vms


def _child(node: int, limit: int, state: State, reach: Reach) -> dict[int, int]:
    """VMs by host: the largest number, at most `limit`, that a node and its link take."""
    switch = node - len(state.topology.hosts)
    while count := reach.through(node, limit):
        vms = {node: count} if switch < 0 else _below(switch, count, state, reach)
        limit = sum(vms.values())
        if limit == count:
            return vms
    return {}
