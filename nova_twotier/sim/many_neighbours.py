"""Which running processes share a slot on very many hosts, kept in arrays.

As `core.neighbours.Neighbours` has it, for all hosts at once to which processes came or that some
left.
"""

import numpy
from numpy.typing import NDArray

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.jobs import MAX_SIZE
from nova_twotier.sim.many_hosts import ManyHosts, Spread
from nova_twotier.sim.many_nodes import Cpu, Places

#: On a seat without a process.
NOBODY = -1


class ManyNeighbours:
    """Who shares a slot with whom, as `core.slots.arrange` has it.

    :param cluster: the hosts. Whenever `changed` is called, the same jobs have to be there that
        have been told by `come`.
    :param floor: least CPU share that a process in the background finds.
    """

    def __init__(self, cluster: ManyHosts, floor: float):
        hosts, slots = len(cluster.hosts), cluster.slots
        self._cluster, self._floor = cluster, floor
        #: The numbers of the processes on each host, by tier, in no order.
        self._seats = {tier: numpy.full((hosts, cluster.most[tier]), NOBODY) for tier in Tier}
        # Those who leave give up their numbers only after others have come.
        count = 2 * hosts * slots * cluster.tiers
        #: Numbers for processes: those from `_given` on are nobody's.
        self._numbers, self._given = numpy.arange(count), 0
        #: Of each process: the row of its job, its place in the order of jobs and of its job's
        #: processes, and the CPU utilisation by which hosts arrange it. The last one is nobody's.
        self._job = numpy.full(count + 1, NOBODY)
        self._order = numpy.full(count + 1, NOBODY)
        self._known = numpy.full(count + 1, -numpy.inf)
        #: The CPU utilisation that it really has, and the CPU share that it finds idle on its slot;
        #: infinite where nothing is beside it. In the foreground, that is all of it.
        self.own = numpy.zeros(count + 1)
        self.idle = numpy.full(count + 1, numpy.inf)
        #: The processes of each job, and where these are.
        self.processes: dict[int, Places] = {}
        self._spreads: dict[int, Spread] = {}
        #: Running jobs by row, and how many processes of each share a slot; rows of nobody.
        self._rows: list[int] = []
        self._sharing = numpy.zeros(count, numpy.int64)
        self._vacant_rows: list[int] = []
        self._row_of: dict[int, int] = {}
        #: Whether processes shared a slot of a host when it was arranged.
        self._shared = numpy.zeros(hosts, bool)
        #: What changed since then: the hosts of the jobs that came to a tier or left it, by job;
        #: the jobs that came, and the processes that left.
        self._stale: dict[Tier, list[Places]] = {tier: [] for tier in Tier}
        self._coming: dict[Tier, list[int]] = {tier: [] for tier in Tier}
        self._left: list[Places] = []
        #: Where a host is among those of one tier that are stale; only theirs are valid.
        self._position = numpy.zeros(hosts, numpy.int64)

    def come(self, number: int, tier: Tier, own: Cpu | None = None) -> None:
        """Add a running job, on the hosts that it has in the cluster.

        `changed` has to be called before it leaves.

        :param own: the CPU utilisations that its processes really have, if these are not those by
            which hosts arrange them.
        """
        spread = self._spreads[number] = self._cluster.spreads[number]
        size, begin = len(spread.places), self._given
        self._given += size
        processes = self.processes[number] = self._numbers[begin : self._given].copy()
        if self._vacant_rows:
            row = self._vacant_rows.pop()
            self._rows[row] = number
        else:
            row = len(self._rows)
            self._rows.append(number)
        self._row_of[number] = row
        self._sharing[row] = 0
        self._job[processes] = row
        self._order[processes] = numpy.arange(number * MAX_SIZE, number * MAX_SIZE + size)
        self._known[processes] = spread.cpu
        self.own[processes] = spread.cpu if own is None else own
        self.idle[processes] = numpy.inf
        self._stale[tier].append(spread.hosts)
        self._coming[tier].append(number)

    def leave(self, number: int, tier: Tier) -> None:
        """Remove a job from its hosts."""
        processes = self.processes.pop(number)
        self._job[processes] = NOBODY
        self._vacant_rows.append(self._row_of.pop(number))
        self._left.append(processes)
        self._stale[tier].append(self._spreads.pop(number).hosts)

    def shares(self, number: int) -> bool:
        """Whether any process of a job shares a slot."""
        return bool(self._sharing[self._row_of[number]])

    def changed(self) -> set[int]:
        """Arrange the hosts where jobs came or left; returns the jobs whose rates may differ now.

        These are the jobs that came, those in the background of which a process finds something
        else idle, and those in the foreground that begin or end to share slots.
        """
        if not (self._stale[FG] or self._stale[BG]):
            return set()
        stale = self._distinct([*self._stale[FG], *self._stale[BG]])
        affected = {*self._coming[FG], *self._coming[BG]}
        self._seat(FG)
        self._seat(BG)
        for processes in self._left:
            self._given -= len(processes)
            self._numbers[self._given : self._given + len(processes)] = processes
        self._left.clear()
        vacant = self._cluster.slots - self._cluster.used[FG][stale]
        shared = self._cluster.used[BG][stale] > vacant
        arranged = stale[shared | self._shared[stale]]
        self._shared[stale] = shared
        if len(arranged):
            affected.update([self._rows[row] for row in self._arrange(arranged)])
        return affected

    def _seat(self, tier: Tier) -> None:
        """Take the processes that left a tier off their seats, and seat those that came there."""
        if not self._stale[tier]:
            return
        stale = self._distinct(self._stale[tier])
        self._stale[tier].clear()
        seats = self._seats[tier][stale]
        if self._left:
            seats[self._job[seats] == NOBODY] = NOBODY
        coming = self._coming[tier]
        if coming:
            self._position[stale] = numpy.arange(len(stale))
            at = self._position[numpy.concatenate([self._spreads[each].places for each in coming])]
            processes = numpy.concatenate([self.processes[each] for each in coming])
            counts = numpy.bincount(at, minlength=len(stale))
            seats[_first_empty(seats, counts)] = processes[numpy.argsort(at, kind="stable")]
            coming.clear()
        self._seats[tier][stale] = seats

    def _distinct(self, hosts: list[Places]) -> Places:
        """All of these hosts, in order."""
        if len(hosts) == 1:
            return hosts[0]
        named = numpy.zeros(len(self._shared), bool)
        for each in hosts:
            named[each] = True
        return named.nonzero()[0]

    def _arrange(self, hosts: Places) -> list[int]:
        """Arrange these hosts; returns the rows of the jobs whose rates may differ now."""
        cluster, known, order = self._cluster, self._known, self._order
        front, back = self._seats[FG][hosts], self._seats[BG][hosts]
        # From the coolest on, after the vacant slots; from the hottest on, before vacant places.
        front = _sorted(front, known[front], order[front])
        back = _sorted(back, -known[back], order[back])
        slots = numpy.arange(cluster.slots)
        vacant = (cluster.slots - cluster.used[FG][hosts])[:, None]
        below = cluster.used[BG][hosts][:, None]
        taking = numpy.count_nonzero(known[front] < cluster.threshold, axis=1, keepdims=True)
        taking[taking == 0] = cluster.slots
        left = 1 - self.own[front]
        found = numpy.full(back.shape, numpy.inf)
        for layer in range(int((-(-below // taking)).max())):
            place = layer * taking + slots
            row, slot = ((slots < taking) & (place < below)).nonzero()
            at = row, place[row, slot]
            found[at] = left[row, slot]
            left[row, slot] -= self.own[back[at]]
        found = numpy.maximum(found, self._floor)
        found[numpy.arange(back.shape[1]) < vacant] = numpy.inf
        above = numpy.where(slots < numpy.minimum(below, taking), 1.0, numpy.inf)
        shared = self._sharing[: len(self._rows)] > 0
        self._note(front, above)
        begin_or_end = (self._sharing[: len(self._rows)] > 0) != shared
        return [*begin_or_end.nonzero()[0].tolist(), *self._note(back, found).nonzero()[0].tolist()]

    def _note(self, processes: Places, idle: Cpu) -> Places:
        """Note what processes find idle; returns of how many this differs, by row of their job."""
        before = self.idle[processes]
        different = (before != idle) & (processes != NOBODY)
        processes, before, idle = processes[different], before[different], idle[different]
        self.idle[processes] = idle
        jobs, rows = self._job[processes], len(self._rows)
        self._sharing[:rows] += numpy.bincount(jobs[idle < numpy.inf], minlength=rows)
        self._sharing[:rows] -= numpy.bincount(jobs[before < numpy.inf], minlength=rows)
        return numpy.bincount(jobs, minlength=rows)


def _sorted(rows: Places, values: Cpu, order: Places) -> Places:
    """Each row by values, and by order where these are equal."""
    return rows[numpy.arange(len(rows))[:, None], numpy.lexsort((order, values))]


def _first_empty(rows: Places, counts: Places) -> NDArray[numpy.bool]:
    """A mask of the first empty places of each row, as many as `counts` has for the row."""
    empty = rows == NOBODY
    first: NDArray[numpy.bool] = empty & (empty.cumsum(axis=1) <= counts[:, None])
    return first
