"""The hose constraint while the VMs of a request are placed below a switch."""

import math
from collections.abc import Mapping

from nova_twotier.core.embedding.request import Embedding, Request
from nova_twotier.core.embedding.state import State


class Hose:
    """What the links up to one switch, which carries the virtual switch, still take of a request.

    Every link is to have min(m, N - m) * B left for the m VMs below it (Symmetry 2018, equation 6).
    That is not monotone in m: a link that is too narrow for half of the VMs takes all of them.
    Links above the switch carry nothing: all VMs are below.
    """

    def __init__(self, request: Request, state: State, switch: int):
        self._size, self._mbps = request.size, request.mbps
        self._residual, self._ways = state.residual, state.topology.ways
        self._request, self._rate = request, state.topology.rate
        self._end = len(state.topology.hosts) + switch
        #: VMs below each link that has some.
        self.below: dict[int, int] = {}
        #: n of each link that was looked at (see `most`).
        self._narrow: dict[int, int] = {}

    def most(self, host: int, limit: int) -> int:
        """The largest number of VMs, at most `limit`, that all links of the host take now.

        As if every number was tried (algorithm 1, lines 13-17). With n = residual / B, rounded
        down, a link refuses the numbers between n and N - n.
        """
        size, mbps = self._size, self._mbps
        if not mbps:
            return limit
        below, narrow = self.below, self._narrow
        count = limit
        # Checking each link once is enough: more VMs are below links further up, so a number
        # lowered by one of them is never one that an earlier link refuses.
        for link in self._ways[host]:
            if link >= self._end or not count:
                break
            if link not in narrow:
                narrow[link] = max(self._residual[link], 0) // mbps
            after = below.get(link, 0) + count
            if narrow[link] < after < size - narrow[link]:
                count -= after - narrow[link]
        return count

    def add(self, host: int, count: int) -> None:
        """Place VMs on a host."""
        for link in self._ways[host]:
            if link >= self._end:
                break
            self.below[link] = self.below.get(link, 0) + count

    def occupation(self, host: int, count: int) -> float:
        """The largest reserved share of a rate on the way of a host, with so many more VMs on it.

        0 without links, 1 on one of rate 0, and infinite if `count` is 0: no VM could go there.
        """
        if not count:
            return math.inf
        largest = 0.0
        for link in self._ways[host]:
            if link >= self._end:
                break
            rate = self._rate[link]
            used = rate - self._residual[link] + self._request.hose(self.below.get(link, 0) + count)
            largest = max(largest, used / rate if rate else 1.0)
        return largest


def embedding(request: Request, state: State, switch: int, vms: Mapping[int, int]) -> Embedding:
    """The answer that places so many VMs on each of these hosts, all below the switch."""
    topology = state.topology
    hose = Hose(request, state, switch)
    for host, count in vms.items():
        hose.add(host, count)
    needs = ((link, request.hose(count)) for link, count in sorted(hose.below.items()))
    return Embedding(
        request,
        {topology.hosts[host]: count for host, count in sorted(vms.items()) if count},
        topology.switches[switch],
        {topology.names[link]: mbps for link, mbps in needs if mbps},
    )
