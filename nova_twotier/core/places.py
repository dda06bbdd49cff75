"""The free places of a tier in the order in which they are taken."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

#: Load of the other tier there, host, and how many places of the host are alike.
Group = tuple[float, int, int]


class Ranking:
    """Kept in order while places are taken and given back: few hosts change from start to start.

    :param groups: the free places of each host, in the order of the hosts.
    """

    def __init__(self, groups: Iterable[Sequence[Group]]):
        self._of_host = list(groups)
        self._sorted = sorted(group for groups in self._of_host for group in groups)

    def replace(self, host: int, groups: Sequence[Group]) -> None:
        """These are the free places of a host now."""
        for group in self._of_host[host]:
            del self._sorted[bisect_left(self._sorted, group)]
        for group in groups:
            insort(self._sorted, group)
        self._of_host[host] = groups

    def best(self, count: int) -> list[int]:
        """Hosts of the first `count` places, or of all if there are fewer."""
        return first(self._sorted, count)


def first(groups: Iterable[Group], count: int) -> list[int]:
    """Hosts of the first `count` places of groups that are in order."""
    hosts: list[int] = []
    for _load, host, places in groups:
        if len(hosts) >= count:
            break
        hosts += [host] * min(places, count - len(hosts))
    return hosts
