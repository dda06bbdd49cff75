"""The network as a tree of switches and hosts with free bandwidth and places, and its drawing."""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Node:
    """A switch or a host, with its link up.

    :param name: path of a switch, or name of a host.
    :param rate: Mbit/s of its link; None if the link is not counted.
    :param residual: Mbit/s of the link that are not reserved.
    :param foreground, background: free places of the host, or of all hosts below.
    """

    name: str
    kind: str
    rate: int | None
    residual: int | None
    foreground: int = 0
    background: int = 0
    below: list["Node"] = field(default_factory=list)

    @property
    def label(self) -> str:
        """Its name relative to the switch above it."""
        return self.name.rpartition("/")[2]


def of(topology: dict) -> list[Node]:
    """The top nodes of the tree, from an answer of `GET /v1/topology`."""
    switches = {each["path"]: _node(each, each["path"], "switch") for each in topology["switches"]}
    top = []
    for each in topology["hosts"]:
        host = _node(each, each["name"], "host")
        host.foreground, host.background = _free(each["foreground"]), _free(each["background"])
        above = each["switch"]
        (switches[above].below if above else top).append(host)
        while above:
            switches[above].foreground += host.foreground
            switches[above].background += host.background
            above = above.rpartition("/")[0]
    for path, switch in switches.items():
        above = path.rpartition("/")[0]
        (switches[above].below if above else top).append(switch)
    return top


def _node(item: dict, name: str, kind: str) -> Node:
    rate = item["rate"]
    return Node(name, kind, rate, None if rate is None else rate - item["used"])


def _free(tier: dict) -> int:
    return max(0, tier["places"] - tier["used"])


def drawn(nodes: list[Node], depth: int | None = None) -> Iterator[tuple[str, Node]]:
    """Each node with the text that draws its branch, from the top down.

    :param depth: levels to draw; all of them by default.
    """
    for node in nodes:
        yield node.label, node
        yield from _branches(node, "", depth)


def _branches(node: Node, prefix: str, depth: int | None) -> Iterator[tuple[str, Node]]:
    if depth is not None:
        depth -= 1
        if depth < 1:
            return
    for each in node.below:
        last = each is node.below[-1]
        yield f"{prefix}{'└── ' if last else '├── '}{each.label}", each
        yield from _branches(each, f"{prefix}{'    ' if last else '│   '}", depth)
