"""Explains to the tenant why a request cannot be embedded."""

from nova_twotier.core.embedding.request import Rejection, Request
from nova_twotier.core.embedding.state import State
from nova_twotier.core.reasons import waits


def rejection(request: Request, state: State) -> Rejection:
    """The reason why an algorithm found no placement for a request."""
    free = max(state.room)
    if request.size <= free:
        return Rejection(waits.BANDWIDTH(size=request.size, mbps=request.mbps, free=free))
    if state.topology.parent.count(-1) == 1:
        return Rejection(waits.SLOTS(size=request.size, idle=free))
    return Rejection(waits.TREE_SLOTS(size=request.size, free=free, slots=max(_slots(state))))


def _slots(state: State) -> list[int]:
    """Slots of the open hosts below each switch."""
    counts = [0 if host in state.closed else count for host, count in enumerate(state.slots)]
    return [sum(counts[first:end]) for first, end in state.topology.span]
