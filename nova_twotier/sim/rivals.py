"""AdaBa's rivals as Symmetry 2018 may also have meant them, for experiments.

The paper has a sentence on each (section 5.3.1), and does not say whether they look for the
smallest subtree as AdaBa does. Those of `core.embedding` do; these look at all hosts at once.
Besides, AdaBa with an exact search behind it.
"""

from collections.abc import Iterable

from nova_twotier.core import embedding
from nova_twotier.core.embedding import Embed, Embedding, Rejection, Request, State, reserved
from nova_twotier.core.embedding.hose import Hose
from nova_twotier.core.embedding.hose import embedding as embedded
from nova_twotier.core.embedding.rejection import rejection

#: VMs by host.
Vms = dict[int, int]


def best_fit(request: Request, state: State) -> Embedding | Rejection:
    """As many VMs as go on one host after the other, those of the fewest free slots first."""
    return _anywhere(request, state, lambda root: _in_turn(request, state, root))


def greedy(request: Request, state: State) -> Embedding | Rejection:
    """VM by VM, to the host whose most occupied link on the way up will be the least occupied."""
    return _anywhere(request, state, lambda root: _one_by_one(request, state, root))


RIVALS: dict[str, Embed] = {
    "best-fit-anywhere": best_fit,
    "greedy-anywhere": greedy,
    "adaba-or-exact": reserved.embed,
}


def get(name: str) -> Embed:
    """An algorithm of core, or of this module.

    :raises embedding.UnknownAlgorithm: if there is none of that name.
    """
    try:
        return RIVALS[name] if name in RIVALS else embedding.get(name)
    except embedding.UnknownAlgorithm as unknown:
        raise embedding.UnknownAlgorithm(f"{unknown}, {', '.join(RIVALS)}") from None


def _anywhere(request: Request, state: State, place) -> Embedding | Rejection:
    """The first tree where all VMs find a place."""
    for switch, above in enumerate(state.topology.parent[len(state.topology.hosts) :]):
        if above < 0 and state.room[switch] >= request.size:
            vms = place(switch)
            if sum(vms.values()) == request.size:
                return embedded(request, state, switch, vms)
    return rejection(request, state)


def _in_turn(request: Request, state: State, root: int) -> Vms:
    hose = Hose(request, state, root)
    vms: Vms = {}
    left = request.size
    for host in sorted(_open(state, root), key=state.free.__getitem__):
        count = hose.most(host, min(state.free[host], left))
        if count:
            hose.add(host, count)
            vms[host] = count
            left -= count
    return vms


def _one_by_one(request: Request, state: State, root: int) -> Vms:
    hose = Hose(request, state, root)
    vms: Vms = dict.fromkeys(_open(state, root), 0)
    for _vm in range(request.size):
        able = [host for host in vms if vms[host] < state.free[host] and hose.most(host, 1)]
        if not able:
            break
        best = min(able, key=lambda host: hose.occupation(host, 1))
        hose.add(best, 1)
        vms[best] += 1
    return vms


def _open(state: State, root: int) -> Iterable[int]:
    return state.hosts(root, list(state.kinds))
