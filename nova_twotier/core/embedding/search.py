"""The search that AdaBa, best fit and first fit share: Symmetry 2018, algorithm 1.

They differ "in the setting of weight function" only (section 4.1).
"""

from collections.abc import Callable, Iterable
from itertools import groupby

from nova_twotier.core.embedding.hose import Hose, embedding
from nova_twotier.core.embedding.reach import candidates
from nova_twotier.core.embedding.rejection import rejection
from nova_twotier.core.embedding.request import Embedding, Rejection, Request
from nova_twotier.core.embedding.state import Kind, State

#: Weight of a kind of host; higher weights win.
Weight = Callable[[Kind], int]


def smallest_subtree(request: Request, state: State, weight: Weight) -> Embedding | Rejection:
    """Place a request below the first switch, from the edge up, whose hosts take it (lines 5-30).

    Switches of one height are tried in the order of the topology, as are hosts of one weight. Two
    misprints are corrected: line 13 tries up to min(a, left), not one less, or the last VM would
    never be placed; line 18 takes what a host was assigned from what is left, and a host that is
    assigned nothing keeps nothing of the one before it.

    Links are tested for the VMs placed so far (line 14). So a link that would take all but a few of
    the VMs, but not half of them, refuses them where no single host below it has room for so many.
    """
    groups = _ranked(state, weight)
    for switch in candidates(request, state):
        hosts = (host for kinds in groups for host in state.hosts(switch, kinds))
        vms = _fill(request, state, switch, hosts)
        if vms is not None:
            return embedding(request, state, switch, vms)
    return rejection(request, state)


def _ranked(state: State, weight: Weight) -> list[list[Kind]]:
    """Kinds of hosts in descending weight; those of one weight together."""
    kinds = sorted(state.kinds, key=weight, reverse=True)
    return [list(group) for _weight, group in groupby(kinds, weight)]


def _fill(
    request: Request, state: State, switch: int, hosts: Iterable[int]
) -> dict[int, int] | None:
    """As many VMs as each host takes, one after the other (lines 11-20), if all find a place."""
    hose = Hose(request, state, switch)
    vms = {}
    left, room = request.size, state.room[switch]
    for host in hosts:
        free = state.free[host]
        count = hose.most(host, min(free, left))
        if count:
            hose.add(host, count)
            vms[host] = count
            left -= count
            if not left:
                return vms
        room -= free
        if room < left:
            break
    return None
