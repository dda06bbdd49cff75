"""How many VMs of a request links let through at most, seen from the hosts upwards."""

from collections.abc import Iterator

from nova_twotier.core.embedding.request import Request
from nova_twotier.core.embedding.state import State


class Reach:
    """Bounds for one request in one state: no placement, of whatever algorithm, is beyond them.

    They are Oktopus' largest numbers of VMs that a machine, and a switch with what is below it, can
    hold (Ballani 2011, algorithm 1: max(M_v)).

    Attributes:
        below: VMs that the hosts below each switch take, by switch.
        up: VMs that each node takes, its own link considered, by node; of no use for roots.
    """

    def __init__(self, request: Request, state: State):
        self._size, self._mbps, self._residual = request.size, request.mbps, state.residual
        parent = state.topology.parent
        self.up = [0] * len(parent)
        self.below = [0] * len(state.topology.switches)
        for (free, _slots), hosts in state.kinds.items():
            # As `through`, without a call for every host.
            needed = request.hose(free) if free < request.size else 0
            for host in hosts:
                left = state.residual[host]
                count = free if left >= needed or not needed else max(left, 0) // request.mbps
                self.up[host] = count
                self.below[parent[host]] += count
        first = len(state.topology.hosts)
        for switch, count in enumerate(self.below):
            node = first + switch
            self.up[node] = count = self.through(node, count)
            if parent[node] >= 0:
                self.below[parent[node]] += count

    def through(self, node: int, limit: int) -> int:
        """The largest number of VMs, at most `limit`, that the link up from a node takes below."""
        if not self._mbps:
            return limit
        narrow = max(self._residual[node], 0) // self._mbps
        return narrow if narrow < limit < self._size - narrow else limit


def candidates(request: Request, state: State) -> Iterator[int]:
    """The switches that may have room for a request, in the order in which to try them.

    Those with free slots enough. As soon as the first has turned out to be of no use, also enough
    by the bounds, which take a look at every host that has free slots.
    """
    reach = None
    for switch, room in enumerate(state.room):
        if room < request.size:
            continue
        if reach is None or reach.below[switch] >= request.size:
            yield switch
        reach = reach or Reach(request, state)
