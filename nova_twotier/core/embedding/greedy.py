"""Greedy embedding: the least maximum link occupation (Symmetry 2018, sections 1 and 5.3.1)."""

from nova_twotier.core.embedding.hose import Hose, embedding
from nova_twotier.core.embedding.reach import candidates
from nova_twotier.core.embedding.rejection import rejection
from nova_twotier.core.embedding.request import Embedding, Rejection, Request
from nova_twotier.core.embedding.state import State


def embed(request: Request, state: State) -> Embedding | Rejection:
    """The smallest subtree, and in it the hosts whose links are occupied least afterwards.

    The paper has one sentence: it "tries to assign the VMs to the server [...] that leads to the
    minimum value of maximum link occupation". The rest is as in algorithm 1, with which it is
    compared: the subtree, that a host takes as many VMs as it can, and that it is asked once.
    Occupation of a link is the share of its rate that is reserved, by others and by this request;
    it counts on the way from the host to the virtual switch. Ties by the order of the topology.
    """
    for switch in candidates(request, state):
        vms = _fill(request, state, switch)
        if vms is not None:
            return embedding(request, state, switch, vms)
    return rejection(request, state)


def _fill(request: Request, state: State, switch: int) -> dict[int, int] | None:
    """VMs by host, if all find a place."""
    free = state.free
    hose = Hose(request, state, switch)
    vms = {}
    left = request.size
    occupation: dict[int, float] = {}
    changed = state.hosts(switch, list(state.kinds))
    while left:
        for host in changed:
            occupation[host] = hose.occupation(host, hose.most(host, min(free[host], left)))
        if not occupation:
            return None
        best = min(occupation, key=occupation.__getitem__)
        count = hose.most(best, min(free[best], left))
        if not count:
            return None
        hose.add(best, count)
        vms[best] = count
        left -= count
        del occupation[best]
        first, end = _beside(state, switch, best)
        changed = [host for host in occupation if first <= host < end or free[host] > left]
    return vms


def _beside(state: State, switch: int, host: int) -> tuple[int, int]:
    """The hosts that share a link with this one below the switch: the first, one after the last."""
    parent, first = state.topology.parent, len(state.topology.hosts)
    below = host
    while parent[below] != switch:
        below = first + parent[below]
    return (host, host) if below == host else state.topology.span[below - first]
