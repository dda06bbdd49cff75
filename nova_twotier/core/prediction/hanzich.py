"""Hanzich's estimator: jobs are slowed down by the number of those that share their nodes.

Hanzich et al. 2005, as CISNE (Lérida et al., section 3.1) compares with it.
"""

from collections.abc import Iterator, Sequence

from nova_twotier.core.prediction.from_history import FromHistory
from nova_twotier.core.prediction.nodes import Node, node_of
from nova_twotier.core.prediction.pace import DEDICATED, Pace, Process, Seated, Seats
from nova_twotier.core.prediction.present import Present


class Slowdowns:
    """The degree of multiprogramming (MPL) of each CPU, whatever the processes there use.

    :param nodes: of the hosts in their order; only `cpus` counts.
    """

    def __init__(self, nodes: Sequence[Node] = ()):
        self._nodes = nodes

    def processing(self, seats: Seats) -> Iterator[tuple[Process, float]]:
        cpus = node_of(self._nodes, seats.index).cpus
        if cpus is not None:
            level = max(1.0, len(seats.fg) / cpus)
            for process in seats.fg:
                yield process, level
            return
        for slot in seats.slots():
            there = slot.bg if slot.fg is None else (slot.fg, *slot.bg)
            for process in there:
                yield process, float(len(there))

    def link(self, seats: Seats) -> float:
        return 1.0


class Hanzich(FromHistory):
    name = "hanzich"
    summary = "A forward run by the number of processes on each CPU alone."

    def pace(self, present: Present) -> Pace:
        return Seated(Slowdowns(present.nodes)) if present.shared else DEDICATED
