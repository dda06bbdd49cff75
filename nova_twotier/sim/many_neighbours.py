"""Which running processes share a slot on very many hosts, kept in arrays.

As `core.neighbours.Neighbours` has it, all hosts at once where processes came or left.
"""

import numpy

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.jobs import MAX_SIZE
from nova_twotier.sim.many_hosts import NOBODY, ManyHosts, first_empty
from nova_twotier.sim.many_nodes import Cpu, Places


class ManyNeighbours:
    """Who shares a slot with whom, as `core.slots.arrange` has it.

    :param cluster: the hosts; the jobs on them are told by `come`.
    :param floor: least CPU share that a process in the background finds.
    """

    def __init__(self, cluster: ManyHosts, floor: float):
        hosts, self._slots = len(cluster.hosts), cluster.slots
        self._threshold, self._floor = cluster.threshold, floor
        #: The numbers of the processes on each host, by tier, in the order of `arrange` once it is
        #: arranged: those in the foreground from the coolest on, after the vacant slots; those in
        #: the background from the hottest on, before the vacant places.
        self._seats = {
            tier: numpy.full((hosts, cluster.jobs[tier].shape[1]), NOBODY) for tier in Tier
        }
        # Those who leave give up their numbers only after others have come.
        count = 2 * hosts * cluster.slots * cluster.tiers
        #: Numbers for processes: those from `_given` on are nobody's.
        self._numbers, self._given = numpy.arange(count), 0
        #: Of each process: its job, its place in the order of jobs and of its job's processes, and
        #: the CPU utilisation by which hosts arrange it. The last one is nobody's.
        self._job = numpy.full(count + 1, NOBODY)
        self._order = numpy.full(count + 1, NOBODY)
        self._known = numpy.full(count + 1, -numpy.inf)
        #: The CPU utilisation that it really has, and the CPU share that it finds idle on its slot;
        #: infinite where nothing is beside it. In the foreground, that is all of it.
        self.own = numpy.zeros(count + 1)
        self.idle = numpy.full(count + 1, numpy.inf)
        #: The processes of each job.
        self.processes: dict[int, Places] = {}
        self._places: dict[int, Places] = {}
        #: Whether processes shared a slot of a host when it was arranged, and whether some came or
        #: left since then.
        self._shared = numpy.zeros(hosts, bool)
        self._stale = numpy.zeros(hosts, bool)
        #: The jobs that came, by tier, and the processes of those that left, since then.
        self._coming: dict[Tier, dict[int, None]] = {tier: {} for tier in Tier}
        self._left: list[Places] = []

    def come(self, number: int, tier: Tier, places: Places, known: Cpu, own: Cpu) -> None:
        """Place a running job on its hosts; `changed` has to be called before it leaves.

        :param places: the host of each of its processes.
        :param known: the CPU utilisations by which hosts arrange its processes.
        :param own: those that they really have.
        """
        begin = self._given
        self._given += len(places)
        processes = self.processes[number] = self._numbers[begin : self._given].copy()
        self._places[number] = places
        self._job[processes] = number
        self._order[processes] = numpy.arange(len(places)) + number * MAX_SIZE
        self._known[processes] = known
        self.own[processes] = own
        self.idle[processes] = numpy.inf
        self._stale[places] = True
        self._coming[tier][number] = None

    def leave(self, number: int) -> None:
        """Remove a job from its hosts."""
        processes = self.processes.pop(number)
        self._job[processes] = NOBODY
        self._left.append(processes)
        self._stale[self._places.pop(number)] = True

    def changed(self) -> set[int]:
        """The jobs that came since the last call, and those that share slots in another way."""
        stale, rows = numpy.flatnonzero(self._stale), self._stale.cumsum() - 1
        self._stale[stale] = False
        front, back = self._seated(FG, stale, rows), self._seated(BG, stale, rows)
        affected = {*self._coming[FG], *self._coming[BG]}
        self._settled()
        vacant = self._slots - numpy.count_nonzero(front != NOBODY, axis=1)
        below = numpy.count_nonzero(back != NOBODY, axis=1)
        shared = below > vacant
        arranged = numpy.flatnonzero(shared | self._shared[stale])
        self._shared[stale] = shared
        if len(arranged):
            affected |= self._arrange(
                front[arranged], back[arranged], vacant[arranged], below[arranged]
            )
        return affected

    def _seated(self, tier: Tier, stale: Places, rows: Places) -> Places:
        """Seat the processes that came to a tier of the stale hosts, on the seats of those that
        left; returns the seats of these hosts.

        :param rows: which of the stale hosts each host is.
        """
        seats = self._seats[tier][stale]
        seats[self._job[seats] == NOBODY] = NOBODY
        coming = self._coming[tier]
        if coming:
            processes = numpy.concatenate([self.processes[number] for number in coming])
            row = rows[numpy.concatenate([self._places[number] for number in coming])]
            counts = numpy.bincount(row, minlength=len(stale))
            seats[first_empty(seats, counts)] = processes[numpy.argsort(row, kind="stable")]
        self._seats[tier][stale] = seats
        return seats

    def _settled(self) -> None:
        """Nobody is coming or leaving any more: the numbers of those that left are free."""
        for coming in self._coming.values():
            coming.clear()
        for processes in self._left:
            self._given -= len(processes)
            self._numbers[self._given : self._given + len(processes)] = processes
        self._left.clear()

    def _arrange(self, front: Places, back: Places, vacant: Places, below: Places) -> set[int]:
        """Arrange some hosts anew; returns the jobs whose processes share slots in another way.

        :param front, back: the processes of each tier by host, in no order.
        :param vacant: slots without a foreground process by host.
        :param below: background processes by host.
        """
        known, order, slots = self._known, self._order, numpy.arange(self._slots)
        front = _sorted(front, known[front], order[front])
        back = _sorted(back, -known[back], order[back])
        taking = numpy.count_nonzero(known[front] < self._threshold, axis=1)
        taking[taking == 0] = self._slots
        left = 1 - self.own[front]
        found = numpy.full(back.shape, numpy.inf)
        for layer in range(back.shape[1]):
            at = layer * taking[:, None] + slots
            row, slot = numpy.nonzero((slots < taking[:, None]) & (at < below[:, None]))
            if not len(row):
                break
            place = at[row, slot]
            found[row, place] = left[row, slot]
            left[row, slot] -= self.own[back[row, place]]
        found = numpy.maximum(found, self._floor)
        found[numpy.arange(back.shape[1]) < vacant[:, None]] = numpy.inf
        above = numpy.where(slots < numpy.minimum(below, taking)[:, None], 1.0, numpy.inf)
        return self._differing(front, above) | self._differing(back, found)

    def _differing(self, processes: Places, idle: Cpu) -> set[int]:
        """Set what processes find idle; returns the jobs of those that found something else."""
        different = (self.idle[processes] != idle) & (processes != NOBODY)
        processes, idle = processes[different], idle[different]
        self.idle[processes] = idle
        return set(self._job[processes].tolist())


def _sorted(rows: Places, values: Cpu, order: Places) -> Places:
    """Each row by values, and by order where these are equal."""
    return numpy.take_along_axis(rows, numpy.lexsort((order, values)), axis=1)
