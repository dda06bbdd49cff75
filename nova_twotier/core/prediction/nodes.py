"""Hosts as a model of progress sees them: how powerful, and what others than our jobs use there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


class InvalidNode(ValueError):
    """A node that cannot be; the message says which field and what it may be."""


@dataclass(frozen=True, slots=True)
class Node:
    """
    :param power: relative computing power P_i (CISNE, section 2.1), above 0 and at most 1.
    :param local: share of each CPU that processes other than our jobs' use, from 0 and below 1.
    :param cpus: CPUs that the processes in the foreground share; None: one for each slot.
    :param mbps: capacity of the link in Mbit/s.
    :param local_mbps: what others use of it.
    :raises InvalidNode: if a field is out of its range.
    """

    power: float = 1.0
    local: float = 0.0
    cpus: int | None = None
    mbps: float = math.inf
    local_mbps: float = 0.0

    def __post_init__(self):
        for name, fine, range_ in (
            ("power", 0 < self.power <= 1, "above 0 and at most 1"),
            ("local", 0 <= self.local < 1, "from 0 and below 1"),
            ("cpus", self.cpus is None or self.cpus >= 1, "at least 1"),
            ("local_mbps", 0 <= self.local_mbps < self.mbps, "from 0 and below mbps"),
        ):
            if not fine:
                raise InvalidNode(f"{name} is {getattr(self, name)}; it must be {range_}")


FULL = Node()


def node_of(nodes: Sequence[Node], host: int) -> Node:
    """The node of a host by its index; a full one if none are described."""
    return nodes[host] if nodes else FULL
