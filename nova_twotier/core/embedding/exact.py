"""Exact embedding: finds a placement whenever there is one, by counting what subtrees can take."""

from collections.abc import Iterator

from nova_twotier.core.embedding.hose import embedding
from nova_twotier.core.embedding.reach import candidates
from nova_twotier.core.embedding.rejection import rejection
from nova_twotier.core.embedding.request import Embedding, Rejection, Request
from nova_twotier.core.embedding.state import State


def embed(request: Request, state: State) -> Embedding | Rejection:
    """A placement below the lowest switch that has one.

    The algorithms of the papers go through the hosts once, and may miss it. This takes time
    proportional to the number of hosts and the square of N, and prefers no host: use it for a few
    hosts that are known to have room for the request.
    """
    counts = _Counts(request, state)
    for switch in candidates(request, state):
        if counts.below[switch] >> request.size & 1:
            vms = dict(counts.place(len(state.topology.hosts) + switch, request.size))
            return embedding(request, state, switch, vms)
    return rejection(request, state)


class _Counts:
    """Numbers of VMs, as sets of bits: bit m is set if m VMs have a place.

    Attributes:
        below: those that the hosts below each switch take, by switch.
    """

    def __init__(self, request: Request, state: State):
        self._size, self._mbps, self._residual = request.size, request.mbps, state.residual
        self._all = (2 << request.size) - 1
        self._children, self._first = state.topology.children, len(state.topology.hosts)
        #: Those that each node takes, its own link considered, by node.
        self._up = [1] * len(state.topology.parent)
        self.below: list[int] = []
        for (free, _slots), hosts in state.kinds.items():
            some = (2 << free) - 1
            for host in hosts:
                self._up[host] = some & self._passing(host)
        # Those right below a switch come before it.
        for switch, children in enumerate(self._children):
            self.below.append(self._sums(children)[-1])
            node = self._first + switch
            self._up[node] = self.below[switch] & self._passing(node)

    def place(self, node: int, count: int) -> Iterator[tuple[int, int]]:
        """Hosts and VMs on each, that make up a number that the hosts below a node take."""
        if node < self._first:
            yield node, count
            return
        children = self._children[node - self._first]
        for child, before in zip(
            reversed(children), reversed(self._sums(children)[:-1]), strict=True
        ):
            part = next(
                part
                for part in range(count, -1, -1)
                if self._up[child] >> part & 1 and before >> (count - part) & 1
            )
            if part:
                yield from self.place(child, part)
                count -= part

    def _passing(self, node: int) -> int:
        """The numbers below a node that its link lets pass: min(m, N - m) * B within what it has
        left."""
        if not self._mbps:
            return self._all
        narrow = min(self._size, max(self._residual[node], 0) // self._mbps)
        few = (2 << narrow) - 1
        return (few | few << (self._size - narrow)) & self._all

    def _sums(self, nodes: tuple[int, ...]) -> list[int]:
        """The numbers that none of these nodes takes, the first one, the first two, and so on."""
        sums = [1]
        for node in nodes:
            total, numbers = 0, self._up[node]
            while numbers:
                lowest = numbers & -numbers
                total |= sums[-1] * lowest
                numbers ^= lowest
            sums.append(total & self._all)
        return sums
