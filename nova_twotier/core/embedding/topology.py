"""The network as a tree of switches with the hosts as its leaves.

A multi-rooted network is seen as a tree: parallel links count as one with their total rate. That
holds where traffic is spread evenly over them, as by ECMP, and is the view of Oktopus (Ballani
2011, on routing), on which Symmetry 2018 bases its constraint (section 3.4).
"""

import sys
from collections.abc import Iterator, Mapping

#: Rate of a link that is not counted.
UNLIMITED = sys.maxsize
#: The switch above hosts that name none, where no other host names one either.
ROOT = "root"


class InvalidTopology(ValueError):
    """Not a tree of links with rates; the message says where."""


class Topology:
    """Hosts, switches, and the rate of the link that each of them has to the switch above it.

    A link is named after its lower end: a host, or the path of a switch (`core/pod1/edge3`). Roots
    have none; several roots are several trees, and no job is in two of them.

    Everything has a number. Hosts are 0..H-1 from one end of the tree to the other, so that those
    below a switch follow each other. Switches are 0..W-1 in the order in which algorithms try
    them: by height, then by their first host. A node is a host's number, or H plus a switch's: its
    numbers grow on every way up.

    Attributes, never changed:
        hosts, switches, names: the name or path of each host, switch, node.
        number: the number of each host, by name.
        link: the node at the lower end of each counted link, by name.
        rate: Mbit/s of the link up from each node; `UNLIMITED` where it is not counted.
        parent: the switch above each node; -1 above a root.
        children: of each switch: the nodes right below it, hosts before switches.
        height: of each switch: links between it and the farthest host below, at least 1.
        span: of each switch: the first host below it, and one more than the last.
        ways: of each host: the counted links up to its root as nodes, its own first.
    """

    def __init__(self, paths: Mapping[str, str], rates: Mapping[str, int]):
        """As `from_paths`."""
        steps = _steps(paths)
        self.hosts = tuple(sorted(paths, key=lambda host: (steps[host], host)))
        self.number = {host: number for number, host in enumerate(self.hosts)}
        spans: dict[tuple[str, ...], tuple[int, int]] = {}
        heights: dict[tuple[str, ...], int] = {}
        for number, host in enumerate(self.hosts):
            for switch, height in _above(steps[host]):
                spans[switch] = spans.get(switch, (number,))[0], number + 1
                heights[switch] = max(height, heights.get(switch, 0))
        order = sorted(spans, key=lambda switch: (heights[switch], spans[switch], switch))
        numbers = {switch: number for number, switch in enumerate(order)}
        self.switches = tuple("/".join(switch) for switch in order)
        self.names = self.hosts + self.switches
        self.span = tuple(spans[switch] for switch in order)
        self.height = tuple(heights[switch] for switch in order)
        self.parent = (
            *(numbers[steps[host]] for host in self.hosts),
            *(numbers.get(switch[:-1], -1) for switch in order),
        )
        children: list[list[int]] = [[] for _switch in order]
        for node, above in sorted(enumerate(self.parent), key=lambda link: self._place(link[0])):
            if above >= 0:
                children[above].append(node)
        self.children = tuple(map(tuple, children))
        self._count_links(rates)

    def _place(self, node: int) -> tuple[bool, int]:
        """The sort key of a node among its siblings."""
        switch = node - len(self.hosts)
        return (switch >= 0, self.span[switch][0] if switch >= 0 else node)

    def _count_links(self, rates: Mapping[str, int]) -> None:
        names = self.names
        _check(rates, {name for name, above in zip(names, self.parent, strict=True) if above >= 0})
        self.link = {name: node for node, name in enumerate(names) if name in rates}
        self.rate = tuple(rates.get(name, UNLIMITED) for name in names)
        counted = set(self.link.values())
        self.ways = tuple(
            tuple(node for node in self._up(host) if node in counted)
            for host in range(len(self.hosts))
        )

    def _up(self, node: int) -> Iterator[int]:
        """The node, and those above it except for the root."""
        while (above := self.parent[node]) >= 0:
            yield node
            node = len(self.hosts) + above

    def __eq__(self, other: object) -> bool:
        """Whether it has the same hosts and switches in the same places, and the same rates."""
        return self is other or (
            isinstance(other, Topology)
            and (self.names, self.parent, self.rate) == (other.names, other.parent, other.rate)
        )

    def __hash__(self) -> int:
        return hash((self.names, self.parent, self.rate))

    @classmethod
    def fat_tree(cls, k: int, rate: int, uplinks: tuple[int, int] | None = None) -> "Topology":
        """A fat-tree of k pods, each of k/2 edge switches with k/2 hosts: k**3 / 4 hosts.

        Its k/2 aggregation switches a pod are one here, and so are its (k/2)**2 core switches:
        `core`, `core/pod0`, `core/pod0/edge0`, `host00`, with as many digits as the last one needs.

        :param k: even, at least 2.
        :param rate: Mbit/s of a physical link.
        :param uplinks: physical links up from an edge switch, and from a pod; a link of the tree
            has their joint rate (see the head of this file). A whole fat-tree has k/2 and
            (k/2)**2. As a link needs no more than all right below it together, only those of
            hosts are ever short then. With fewer, the tree is oversubscribed.
        :raises InvalidTopology: if k is odd or less than 2, or `rate` is no whole number.
        """
        if not isinstance(k, int) or k < 2 or k % 2:
            raise InvalidTopology(f"k is {k!r}; a fat-tree has an even number of pods, at least 2")
        half = k // 2
        of_edge, of_pod = uplinks or (half, half * half)
        paths: dict[str, str] = {}
        rates: dict[str, int] = {}
        digits = len(str(k * half * half - 1))
        for pod in _numbered("core/pod", k):
            rates[pod] = rate * of_pod
            for edge in _numbered(f"{pod}/edge", half):
                rates[edge] = rate * of_edge
                for _host in range(half):
                    host = f"host{len(paths):0{digits}}"
                    paths[host], rates[host] = edge, rate
        return cls(paths, rates)

    @classmethod
    def from_paths(cls, paths: Mapping[str, str], rates: Mapping[str, int]) -> "Topology":
        """A tree from data, such as the aggregates' `twotier:switch` and `twotier:uplink_mbps`.

        :param paths: path of each host's switch from the root, `core/pod1/edge3`; a host with an
            empty one is linked to the root. Their order does not matter: in the tree, hosts and
            switches stand by name, and hosts before switches.
        :param rates: Mbit/s by link, as `ledger.shape.capacities` has them; what is missing is not
            counted.
        :raises InvalidTopology: if there is no host; if a path has an empty step, or a host's name
            a `/`; if a host has no path and there are several roots; if a rate is no whole number
            of 0 or more, or one is given for a link that is not there.
        """
        return cls(paths, rates)


def _steps(paths: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Path of each host as a tuple; checked."""
    if not paths:
        raise InvalidTopology("no hosts: a network needs at least one")
    roots = sorted({path.split("/")[0] for path in paths.values() if path})
    steps = {}
    for host, path in paths.items():
        if not host or "/" in host:
            raise InvalidTopology(f"host {host!r}: a name is not empty and has no '/'")
        if not path and len(roots) > 1:
            raise InvalidTopology(
                f"host {host} names no switch, and there are several roots: {', '.join(roots)}; "
                "name its switch"
            )
        steps[host] = tuple((path or (roots or [ROOT])[0]).split("/"))
        if not all(steps[host]):
            raise InvalidTopology(
                f"host {host}: switch {path!r} has an empty step; give a path such as core/pod1"
            )
    return steps


def _above(steps: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The switches above a host from its own upwards, and the number of links up to each."""
    for length in range(len(steps), 0, -1):
        yield steps[:length], len(steps) - length + 1


def _check(rates: Mapping[str, int], links: set[str]) -> None:
    for name, rate in rates.items():
        if name not in links:
            raise InvalidTopology(
                f"a rate is given for the link up from {name}, which is not there: a link is named "
                "after its lower end, a host or the path of a switch, and a root has none"
            )
        if not isinstance(rate, int) or isinstance(rate, bool) or rate < 0:
            raise InvalidTopology(
                f"the link up from {name} has the rate {rate!r}; give whole Mbit/s, 0 or more"
            )


def _numbered(name: str, count: int) -> Iterator[str]:
    digits = len(str(count - 1))
    return (f"{name}{number:0{digits}}" for number in range(count))
