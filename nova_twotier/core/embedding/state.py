"""The state of the network: free slots of hosts and residual bandwidth of links."""

from bisect import bisect_left, insort
from collections.abc import Collection, Mapping, Sequence

from nova_twotier.core.embedding.request import Embedding
from nova_twotier.core.embedding.topology import Topology

#: Free slots of a host, and how many it has: all that the order of hosts depends on.
Kind = tuple[int, int]


class OutOfRoom(ValueError):
    """More was requested than a host or link has left, or has in all; the message says which."""


class State:
    """Free slots of the hosts and residual bandwidth of the links, as embeddings come and go.

    Free slots are also kept by switch, and the hosts by their kind, so that an embedding need not
    sort all hosts.

    :param slots: L, of all hosts or of each by name.
    :param free: free slots by name, where not all are; below 0 on a host that shrank.
    :param residual: Mbit/s left by link, where not all of the rate is; below 0 if that was lowered.
    :param closed: hosts that take no new VMs.
    :param max_mbps: Bmax, the largest B that was ever asked for; `saw` raises it.
    :raises OutOfRoom: if more is free or left than there is.
    :raises KeyError: if the topology has no host or counted link of a name, or a host no slots.

    Attributes to read, by number (see `Topology`):
        slots, free: of the hosts.
        residual: by node; `UNLIMITED` of a link that is not counted.
        room: free slots of the open hosts below each switch.
        kinds: the open hosts that have free slots, in order, by kind.
    """

    def __init__(
        self,
        topology: Topology,
        slots: int | Mapping[str, int],
        *,
        free: Mapping[str, int] | None = None,
        residual: Mapping[str, int] | None = None,
        closed: Collection[str] = (),
        max_mbps: int = 0,
    ):
        self.topology = topology
        if isinstance(slots, int):
            self.slots = (slots,) * len(topology.hosts)
        else:
            self.slots = tuple(slots[host] for host in topology.hosts)
        self.closed = frozenset(topology.number[host] for host in closed)
        self.max_mbps = max_mbps
        self.free = list(self.slots)
        for name, count in (free or {}).items():
            self.free[topology.number[name]] = count
        self.residual = list(topology.rate)
        for link, mbps in (residual or {}).items():
            self.residual[topology.link[link]] = mbps
        for host in range(len(self.free)):
            self._free_after(host, 0)
        for number in topology.link.values():
            self._residual_after(number, 0)
        self.room = [0] * len(topology.switches)
        self.kinds: dict[Kind, list[int]] = {}
        for host, count in enumerate(self.free):
            if count > 0 and host not in self.closed:
                self.kinds.setdefault((count, self.slots[host]), []).append(host)
                self._widen(host, count)

    def copy(self) -> "State":
        """An independent copy; lists of numbers are all that is copied."""
        twin = object.__new__(type(self))
        twin.topology, twin.slots, twin.closed = self.topology, self.slots, self.closed
        twin.max_mbps = self.max_mbps
        twin.free, twin.residual = self.free.copy(), self.residual.copy()
        twin.room = self.room.copy()
        twin.kinds = {kind: hosts.copy() for kind, hosts in self.kinds.items()}
        return twin

    def saw(self, mbps: int) -> None:
        """Record the bandwidth of a request, once, when it arrives, even if it is rejected later.

        Symmetry 2018, algorithm 1, line 1: Bmax is "the maximum bandwidth demand that has ever
        arrived".
        """
        self.max_mbps = max(self.max_mbps, mbps)

    def limit(self, left: Mapping[str, int]) -> None:
        """Limit the residual Mbit/s of these links.

        :raises KeyError: if the topology has no counted link of a name.
        """
        for name, mbps in left.items():
            link = self.topology.link[name]
            self.residual[link] = min(self.residual[link], mbps)

    def resize(self, host: int, free: int) -> None:
        """Change the free slots of a host, which others than embeddings take and give back.

        :param host: its number in the topology.
        """
        before, self.free[host] = self.free[host], free
        if before != free:
            self._move(host, before)

    def __eq__(self, other: object) -> bool:
        """Whether as much is left of the same network, and Bmax is the same."""
        return isinstance(other, State) and all(
            getattr(self, name) == getattr(other, name) for name in vars(self)
        )

    __hash__ = None  # type: ignore[assignment]

    def hosts(self, switch: int, kinds: Sequence[Kind]) -> list[int]:
        """The hosts of these kinds below a switch, in the order of the topology."""
        first, end = self.topology.span[switch]
        found = []
        for kind in kinds:
            hosts = self.kinds[kind]
            begin = bisect_left(hosts, first)
            found += hosts[begin : bisect_left(hosts, end, begin)]
        if len(kinds) > 1:
            found.sort()
        return found

    def reserve(self, embedding: Embedding) -> None:
        """Reserve the slots and bandwidth of an embedding.

        :raises OutOfRoom: if a host or link has less left; nothing is taken then.
        """
        self._change(embedding, -1)

    def release(self, embedding: Embedding) -> None:
        """Release the slots and bandwidth of an embedding, which undoes `reserve`.

        "What if these had not started" is to release them, to embed, and to reserve them again; or,
        where hosts or links are below 0 and would not take them back, the same on a copy.

        :raises OutOfRoom: if a host or link would have more than it has; nothing changes then.
        """
        self._change(embedding, 1)

    def _change(self, embedding: Embedding, sign: int) -> None:
        topology = self.topology
        try:
            hosts = {topology.number[host]: sign * count for host, count in embedding.vms.items()}
            links = {topology.link[link]: sign * mbps for link, mbps in embedding.mbps.items()}
        except KeyError as missing:
            raise OutOfRoom(f"the network has no host or counted link {missing}") from None
        free = {host: self._free_after(host, change) for host, change in hosts.items()}
        residual = {link: self._residual_after(link, change) for link, change in links.items()}
        for host, count in free.items():
            before, self.free[host] = self.free[host], count
            self._move(host, before)
        for link, mbps in residual.items():
            self.residual[link] = mbps

    def _free_after(self, host: int, change: int) -> int:
        name = self.topology.hosts[host]
        return _after("free slots of host", name, self.free[host], change, self.slots[host])

    def _residual_after(self, link: int, change: int) -> int:
        name, rate = self.topology.names[link], self.topology.rate[link]
        return _after("Mbit/s left of the link up from", name, self.residual[link], change, rate)

    def _move(self, host: int, before: int) -> None:
        """Take account of free slots that have changed."""
        if host in self.closed:
            return
        now, slots = self.free[host], self.slots[host]
        if before > 0:
            hosts = self.kinds[before, slots]
            del hosts[bisect_left(hosts, host)]
            if not hosts:
                del self.kinds[before, slots]
        if now > 0:
            insort(self.kinds.setdefault((now, slots), []), host)
        self._widen(host, max(now, 0) - max(before, 0))

    def _widen(self, host: int, count: int) -> None:
        switch = self.topology.parent[host]
        first = len(self.slots)
        while switch >= 0:
            self.room[switch] += count
            switch = self.topology.parent[first + switch]


def _after(what: str, name: str, left: int, change: int, most: int) -> int:
    """How much is left after a change; what is below 0 already may stay there."""
    after = left + change
    if after < min(0, left):
        raise OutOfRoom(f"{what} {name}: {-change} wanted, {left} there")
    if after > most:
        raise OutOfRoom(f"{what} {name}: {after}, of {most} in all")
    return after
