"""The waiting jobs by arrival and by size, so that a pass need not check each of them."""

import heapq
import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.jobs import Job, Order
from nova_twotier.core.shortest import Entry, Shortest

#: With so few jobs, checking each of them is faster.
_SHORT = 50


class Queue:
    """Waiting jobs in order of arrival; those whose state was saved are among them."""

    def __init__(self, jobs: Iterable[Job] = ()):
        self._jobs: dict[int, Job] = {}
        self._orders: list[Order] = []
        #: The orders of the jobs of each size, and the existing sizes.
        self._of_size: dict[int, list[Order]] = {}
        self._sizes: list[int] = []
        #: The jobs of each size, sorted by each time that was asked for, such as the estimate.
        self._shortest: list[Shortest] = []
        #: The orders of the jobs that may not run in the foreground.
        self._alone: list[Order] = []
        #: The jobs that may run in each tier, once there was a job that may not run in both.
        self._of_tier: dict[Tier, Queue] = {}
        for job in jobs:
            self.add(job)

    def __reduce__(self) -> tuple[type["Queue"], tuple[list[Job]]]:
        # Pickled by its values: see `Job.__reduce__`.
        return Queue, ([*self._jobs.values()],)

    def copy(self) -> "Queue":
        twin = Queue()
        twin._jobs = dict(self._jobs)
        twin._orders = list(self._orders)
        twin._of_size = {size: list(orders) for size, orders in self._of_size.items()}
        twin._sizes = list(self._sizes)
        twin._shortest = [index.copy() for index in self._shortest]
        twin._alone = list(self._alone)
        twin._of_tier = {tier: queue.copy() for tier, queue in self._of_tier.items()}
        return twin

    def allowed(self, tier: Tier) -> "Queue":
        """The jobs that may run in a tier, as a read-only queue; usually this one itself.

        It follows removals from this queue; call again after adding a job.
        """
        return self._of_tier[tier] if self._of_tier else self

    def __len__(self) -> int:
        return len(self._orders)

    def __iter__(self) -> Iterator[Job]:
        """The jobs by arrival; the queue may change meanwhile."""
        return iter([self._jobs[number] for _arrival, number in self._orders])

    def __getitem__(self, index: int) -> Job:
        """By arrival.

        :raises IndexError: if fewer wait.
        """
        return self._jobs[self._orders[index][1]]

    def __contains__(self, number: int) -> bool:
        return number in self._jobs

    def has_fitting(self, slots: int) -> bool:
        """Whether any job needs no more than so many slots."""
        sizes = self._sizes
        return sizes[0] <= slots if sizes else False

    @property
    def head(self) -> Job | None:
        """The earliest job, if any waits."""
        orders = self._orders
        return self._jobs[orders[0][1]] if orders else None

    @property
    def smallest_job(self) -> Job:
        """The job of the fewest processes, the earliest of them; of the first class.

        :raises IndexError: if nothing waits.
        """
        return self.smallest_within(self._sizes[-1])

    def smallest_within(self, slots: int) -> Job:
        """Like `smallest_job`, of the jobs that need no more than so many slots: `has_fitting` says
        whether there is one."""
        jobs = self._jobs
        smallest = jobs[self._of_size[self._sizes[0]][0][1]]
        if smallest.precedence == jobs[self._orders[0][1]].precedence:
            return smallest
        sizes = self._sizes[: bisect_right(self._sizes, slots)]
        earliest = [jobs[self._of_size[size][0][1]] for size in sizes]
        return min(earliest, key=lambda job: (job.precedence, job.size))

    def smallest_of_each_class(self) -> list[Job]:
        """All jobs, the smallest first; those of the first class before others."""
        return sorted(self, key=lambda job: (job.precedence, job.size, job.order))

    def smallest_first(self, idle: Mapping[Tier, int], tier: Tier) -> Iterator[Job]:
        """Jobs that fit the idle slots of a tier when their turn comes, each `smallest_within`.

        The caller has to start, and so remove, the job that it gets, or to stop.
        """
        while self.has_fitting(idle[tier]):
            yield self.smallest_within(idle[tier])

    def passed_by(self, job: Job) -> bool:
        """Whether a job that arrived before `job` waits."""
        orders = self._orders
        return orders[0] < job.order if orders else False

    def add(self, job: Job) -> None:
        self._insert(job)
        if self._of_tier:
            self._insert_by_tier(job)
        elif not (job.foreground and job.background):
            self._of_tier = {FG: Queue(), BG: Queue()}
            for each in self:
                self._insert_by_tier(each)

    def _insert(self, job: Job) -> None:
        order = job.order
        self._jobs[job.number] = job
        if self._orders and order < self._orders[-1]:
            insort(self._orders, order)
        else:
            self._orders.append(order)
        alike = self._of_size.get(job.size)
        if alike is None:
            self._of_size[job.size] = [order]
            insort(self._sizes, job.size)
        else:
            insort(alike, order)
        for index in self._shortest:
            index.add(job)
        if not job.foreground:
            insort(self._alone, order)

    def remove(self, job: Job) -> None:
        """:raises KeyError: if the job does not wait."""
        self._delete(job)
        if self._of_tier:
            if job.foreground:
                self._of_tier[FG]._delete(job)
            if job.background:
                self._of_tier[BG]._delete(job)

    def _delete(self, job: Job) -> None:
        order = job.order
        del self._jobs[job.number]
        # Most often it is the first, and each comparison of a search costs as much.
        orders = self._orders
        del orders[0 if orders[0] == order else bisect_left(orders, order)]
        alike = self._of_size[job.size]
        if len(alike) == 1:
            del self._of_size[job.size]
            del self._sizes[bisect_left(self._sizes, job.size)]
        else:
            del alike[0 if alike[0] == order else bisect_left(alike, order)]
        for index in self._shortest:
            index.remove(job)
        if not job.foreground:
            del self._alone[bisect_left(self._alone, order)]

    def _insert_by_tier(self, job: Job) -> None:
        if job.foreground:
            self._of_tier[FG]._insert(job)
        if job.background:
            self._of_tier[BG]._insert(job)

    def first_of_each_size(self, largest: int) -> list[Job]:
        """The earliest job of each size up to the `largest`."""
        sizes = self._sizes[: bisect_right(self._sizes, largest)]
        return [self._jobs[self._of_size[size][0][1]] for size in sizes]

    def next_of_size(self, size: int, order: Order) -> Job | None:
        """The earliest job of `size` that arrived after `order`."""
        alike = self._of_size.get(size)
        if alike is None:
            return None
        index = 1 if alike[0] == order else bisect_right(alike, order)
        return self._jobs[alike[index][1]] if index < len(alike) else None

    def next_beside(
        self, order: Order, slots: int, extra: int, now: float, end: float
    ) -> Job | None:
        """The earliest job that arrived after `order` and may start beside a reservation.

        It needs no more than `slots`, and no more than `extra` unless it ends by `end`, by its
        estimate and started `now`.
        """
        if len(self._orders) <= _SHORT:
            jobs = self._jobs
            for _arrival, number in self._orders[bisect_right(self._orders, order) :]:
                job = jobs[number]
                size = job.size
                if size <= slots and (size <= extra or now + job.expected <= end):
                    return job
            return None
        found: list[Order] = []
        for size in self._sizes[: bisect_right(self._sizes, slots)]:
            if size > extra:
                found += self._ending(size, order, now, end)
            elif first := self.next_of_size(size, order):
                found.append(first.order)
        return self._jobs[min(found)[1]] if found else None

    def _ending(self, size: int, order: Order, now: float, end: float) -> Iterator[Order]:
        """The jobs of a size that arrived after `order` and end by `end` if they start `now`."""
        for expected, place, number in self._sorted(size, _estimate):
            if now + expected > end:
                break
            position = place, number
            if position > order:
                yield position

    def earliest_within(self, slots: int) -> Job | None:
        """The earliest job of a size of at most `slots`; None if there is none."""
        of_size = self._of_size
        earliest, first = math.inf, -1
        for size in self._sizes:
            if size > slots:
                break
            # Compiled, numbers take less time to compare than tuples.
            order = of_size[size][0]
            place: float = order[0]
            number: int = order[1]
            if place < earliest or (place == earliest and number < first):
                earliest, first = place, number
        return self._jobs[first] if earliest < math.inf else None

    def fitting(self, idle: Mapping[Tier, int], tier: Tier) -> Iterator[Job]:
        """Each job, by arrival, that fits the idle slots of a tier when its turn comes.

        The caller may start, and so remove, the job that it gets.
        """
        if len(self._orders) <= _SHORT:
            jobs = self._jobs
            for _arrival, number in self._orders.copy():
                job = jobs[number]
                if job.size <= idle[tier]:
                    yield job
                    if not self.has_fitting(idle[tier]):
                        break
            return
        turns = []
        for size in self._sizes[: bisect_right(self._sizes, idle[tier])]:
            place, number = self._of_size[size][0]
            turns.append((place, number, size))
        heapq.heapify(turns)
        while turns:
            place, number, size = turns[0]
            if size > idle[tier]:
                # After a start, most are too large: to take one after the other off costs more.
                turns = [turn for turn in turns if turn[2] <= idle[tier]]
                heapq.heapify(turns)
                continue
            job = self._jobs[number]
            following = self.next_of_size(size, (place, number))
            if following is None:
                heapq.heappop(turns)
            else:
                place, number = following.order
                heapq.heapreplace(turns, (place, number, size))
            yield job

    def shortest_first(self, idle: Mapping[Tier, int], tier: Tier) -> Iterator[Job]:
        """Like `fitting`, but by relative deadline instead of by arrival.

        A job that may not run in the foreground could starve here. So only jobs that come before it
        in the queue may pass it.
        """
        jobs, alone, due = self._jobs, self._alone.copy(), 0
        given: set[int] = set()
        turns = []
        for size in self._sizes[: bisect_right(self._sizes, idle[tier])]:
            time, place, number = self._sorted(size, _deadline)[0]
            turns.append((time, place, number, size))
        heapq.heapify(turns)
        while turns:
            time, place, number, size = turns[0]
            order = place, number
            while due < len(alone) and alone[due] < order and size <= idle[tier]:
                first = alone[due][1]
                due += 1
                if first not in given and jobs[first].size <= idle[tier]:
                    given.add(first)
                    yield jobs[first]
            if size > idle[tier]:
                turns = [turn for turn in turns if turn[3] <= idle[tier]]
                heapq.heapify(turns)
                continue
            alike = self._sorted(size, _deadline)
            following = bisect_right(alike, (time, place, number))
            if following == len(alike):
                heapq.heappop(turns)
            else:
                time, place, due_number = alike[following]
                heapq.heapreplace(turns, (time, place, due_number, size))
            if number not in given:
                given.add(number)
                yield jobs[number]

    def _sorted(self, size: int, time: Callable[[Job], float]) -> list[Entry]:
        """The jobs of a size, sorted by a time, shortest first; do not change the list."""
        found = [index for index in self._shortest if index.time is time]
        if not found:
            found = [Shortest(time)]
            self._shortest += found
        return found[0].of_size(size, self._of_size.get(size, ()), self._jobs)


def _estimate(job: Job) -> float:
    return job.expected


def _deadline(job: Job) -> float:
    return job.relative_deadline
