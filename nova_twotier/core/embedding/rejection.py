"""Explains to the tenant why a request cannot be embedded."""

from nova_twotier.core.embedding.request import Rejection, Request
from nova_twotier.core.embedding.state import State


def rejection(request: Request, state: State) -> Rejection:
    """The reason why an algorithm found no placement for a request."""
    vms = "1 VM needs a slot" if request.size == 1 else f"{request.size} VMs need as many slots"
    below = "" if state.topology.parent.count(-1) == 1 else " of one tree of the network"
    free = max(state.room)
    if request.size > free:
        slots = max(_slots(state))
        if request.size > slots:
            return Rejection(f"{vms}; there are {slots}{below} in all")
        return Rejection(f"{vms}; {free}{below} are free")
    each = "" if request.size == 1 else " each"
    return Rejection(
        f"no switch has {request.size} free slots below it with {request.mbps} Mbit/s{each}: "
        f"{free}{below} are free, but not with as much bandwidth"
    )


def _slots(state: State) -> list[int]:
    """Slots of the open hosts below each switch."""
    counts = [0 if host in state.closed else count for host, count in enumerate(state.slots)]
    return [sum(counts[first:end]) for first, end in state.topology.span]
