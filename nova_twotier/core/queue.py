"""The waiting jobs: by arrival, and by size, so that a pass does not look at each of them."""

import heapq
import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping

from nova_twotier.core.actions import Tier
from nova_twotier.core.jobs import Job

Order = tuple[float, int]
#: Of so few jobs, each is looked at: that is faster.
_SHORT = 50


class Queue:
    """Waiting jobs in order of arrival; those whose state was saved are among them."""

    def __init__(self, jobs: Iterable[Job] = ()):
        self._jobs: dict[int, Job] = {}
        self._orders: list[Order] = []
        #: Orders of the jobs of each size, and the sizes there are.
        self._of_size: dict[int, list[Order]] = {}
        self._sizes: list[int] = []
        #: The shortest estimate of a size, where it is known.
        self._shortest: dict[int, float] = {}
        for job in jobs:
            self.add(job)

    def copy(self) -> "Queue":
        twin = object.__new__(Queue)
        twin._jobs = dict(self._jobs)
        twin._orders = list(self._orders)
        twin._of_size = {size: list(orders) for size, orders in self._of_size.items()}
        twin._sizes = list(self._sizes)
        twin._shortest = dict(self._shortest)
        return twin

    def __len__(self) -> int:
        return len(self._orders)

    def __iter__(self) -> Iterator[Job]:
        """By arrival; the queue may change on the way."""
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
        """The job of the fewest processes, the earliest of them.

        :raises IndexError: if nothing waits.
        """
        return self._jobs[self._of_size[self._sizes[0]][0][1]]

    def passed_by(self, job: Job) -> bool:
        """Whether an earlier arrival than `job` waits."""
        orders = self._orders
        return orders[0] < job.order if orders else False

    def add(self, job: Job) -> None:
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
        if self._shortest and job.expected < self._shortest.get(job.size, 0.0):
            self._shortest[job.size] = job.expected

    def remove(self, job: Job) -> None:
        """:raises KeyError: if the job does not wait."""
        del self._jobs[job.number]
        del self._orders[bisect_left(self._orders, job.order)]
        alike = self._of_size[job.size]
        if len(alike) == 1:
            del self._of_size[job.size]
            del self._sizes[bisect_left(self._sizes, job.size)]
        else:
            del alike[bisect_left(alike, job.order)]
        if self._shortest and job.expected <= self._shortest.get(job.size, -1.0):
            del self._shortest[job.size]

    def first_of_each_size(self, largest: int) -> list[Job]:
        """The earliest job of each size up to the `largest`."""
        sizes = self._sizes[: bisect_right(self._sizes, largest)]
        return [self._jobs[self._of_size[size][0][1]] for size in sizes]

    def earliest_above(self, size: int) -> Order:
        """The position of the earliest job that is larger than `size`; infinite without one."""
        if not self._sizes or self._sizes[-1] <= size:
            return math.inf, 0
        sizes = self._sizes[bisect_right(self._sizes, size) :]
        return min(self._of_size[larger][0] for larger in sizes)

    def next_of_size(self, size: int, order: Order) -> Job | None:
        """The earliest job of `size` that arrived after `order`."""
        alike = self._of_size.get(size, ())
        index = bisect_right(alike, order)
        return self._jobs[alike[index][1]] if index < len(alike) else None

    def _shortest_of(self, size: int) -> float:
        """The shortest estimate of the jobs of a size."""
        if size not in self._shortest:
            jobs = (self._jobs[number] for _arrival, number in self._of_size[size])
            self._shortest[size] = min(job.expected for job in jobs)
        return self._shortest[size]

    def fitting(
        self,
        idle: Mapping[Tier, int],
        tier: Tier,
        chance: Callable[[int, float], bool] | None = None,
    ) -> Iterator[Job]:
        """By arrival, each job that fits the idle slots of a tier when its turn comes.

        The caller may start, and so remove, the job that it was given.

        :param chance: whether a job of a size and an estimate could be started at all; jobs for
            which that is false may be left out.
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
        sizes = self._sizes[: bisect_right(self._sizes, idle[tier])]
        if chance:
            sizes = [size for size in sizes if chance(size, self._shortest_of(size))]
        turns = [(self._of_size[size][0], size) for size in sizes]
        heapq.heapify(turns)
        while turns:
            order, size = turns[0]
            if size > idle[tier]:
                heapq.heappop(turns)
                continue
            job = self._jobs[order[1]]
            following = self.next_of_size(size, order)
            if following is None:
                heapq.heappop(turns)
            else:
                heapq.heapreplace(turns, (following.order, size))
            yield job

    def smallest(self, idle: Mapping[Tier, int], tier: Tier) -> Iterator[Job]:
        """By size, then by arrival, each job that fits the idle slots of a tier in its turn.

        The caller starts, and so removes, the job that it was given.
        """
        while self._sizes and self._sizes[0] <= idle[tier]:
            yield self.smallest_job
