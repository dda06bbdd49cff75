"""Finds the nodes whose processes use the least CPU, without sorting all nodes."""

import numpy
from numpy.typing import NDArray

#: Ranges of utilisation: a node is sorted only beside those whose range is asked for.
_RANGES = 1024
#: The range of the nodes that do not count.
_NONE = _RANGES


class Coolest:
    """Some of many nodes, by the range in which their utilisation is.

    :param cpu: utilisation 0..1 by node; kept, not copied, and changes.
    """

    def __init__(self, cpu: NDArray[numpy.float64]):
        self._cpu = cpu
        self._range = numpy.full(len(cpu), _NONE, numpy.uint16)
        self._counts = numpy.zeros(_RANGES + 1, numpy.int64)

    def copy(self, cpu: NDArray[numpy.float64]) -> "Coolest":
        """:param cpu: what the copy keeps."""
        twin = Coolest(cpu)
        twin._range, twin._counts = self._range.copy(), self._counts.copy()
        return twin

    def change(self, nodes: NDArray[numpy.int64], counts: NDArray[numpy.bool_]) -> None:
        """Record the utilisation of these nodes, each named once, and whether they count now."""
        ranges = (self._cpu[nodes] * (_RANGES - 1)).astype(numpy.uint16)
        ranges[~counts] = _NONE
        self._counts += numpy.bincount(ranges, minlength=_RANGES + 1)
        self._counts -= numpy.bincount(self._range[nodes], minlength=_RANGES + 1)
        self._range[nodes] = ranges

    def all(self) -> list[int]:
        """The nodes that count, by number."""
        nodes: list[int] = numpy.flatnonzero(self._range < _NONE).tolist()
        return nodes

    def first(self, count: int) -> list[int]:
        """The `count` coolest nodes, equal ones by number; all if there are fewer."""
        last = numpy.searchsorted(numpy.cumsum(self._counts[:_NONE]), count)
        nodes = numpy.flatnonzero(self._range <= min(last, _NONE - 1))
        order = numpy.argsort(self._cpu[nodes], kind="stable")[:count]
        coolest: list[int] = nodes[order].tolist()
        return coolest
