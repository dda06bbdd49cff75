"""Finds the nodes whose processes use the least CPU, without sorting all nodes."""

from collections.abc import Iterable, Mapping, Sequence

#: So many nodes are in a range of utilisations, about.
_ALIKE = 64


class Coolest:
    """Nodes by ranges of utilisation: only the ranges that are asked for are put in order.

    All parameters are kept, not copied, and change.

    :param cpu: utilisation 0..1 by node.
    :param jobs: the number of the job that it is of; None: there is none.
    :param free: the nodes that count, if they have a process.
    """

    def __init__(self, cpu: list[float], jobs: Sequence[int | None], free: set[int]):
        self._cpu, self._jobs, self._free = cpu, jobs, free
        #: Some are outdated or there twice, and those that have changed are not there yet.
        self._ranges: list[list[int]] = [[] for _range in range(len(cpu) // _ALIKE + 2)]
        self._entries = 0
        self._changed = set(free)

    def change(self, nodes: Iterable[int]) -> None:
        """Record that a process came to these nodes or left them, or that they are free or not."""
        self._changed.update(nodes)

    def first(self, count: int, promised: Mapping[int, int]) -> list[int]:
        """The `count` coolest nodes, equal ones by number; all if there are fewer.

        :param promised: nodes that do not count now, by a number above 0.
        """
        self._enter()
        cpu, jobs, free, scale = self._cpu, self._jobs, self._free, len(self._ranges) - 2
        found: list[int] = []
        for index, entries in enumerate(self._ranges):
            if len(found) >= count:
                break
            if not entries:
                continue
            here = [
                node
                for node in set(entries)
                if node in free and jobs[node] is not None and int(cpu[node] * scale) == index
            ]
            here.sort()
            here.sort(key=cpu.__getitem__)
            self._ranges[index] = here
            found += [node for node in here if not promised.get(node)] if promised else here
        return found[:count]

    def _enter(self) -> None:
        """Put what has changed into its range."""
        cpu, jobs, free, scale = self._cpu, self._jobs, self._free, len(self._ranges) - 2
        entering = self._changed
        self._entries += len(entering)
        if self._entries > 4 * len(cpu):
            # Most are outdated.
            self._ranges = [[] for _range in self._ranges]
            entering = free
            self._entries = len(free)
        for node in entering:
            if node in free and jobs[node] is not None:
                self._ranges[int(cpu[node] * scale)].append(node)
        self._changed.clear()
