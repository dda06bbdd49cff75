"""An index of waiting jobs: by size, then by a time, such as the estimate."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping

from nova_twotier.core.jobs import Job, Order

#: The time of a job, and its position (`Job.order`): of those of equal times, the earliest comes
#: first. Comparing pairs of pairs would take three times as long.
Entry = tuple[float, float, int]


class Shortest:
    """Waiting jobs of each size, sorted by a time such as the estimate, shortest first.

    A size is sorted when it is first asked for, and kept sorted from then on.

    :param time: in seconds; that of a job must not change.
    """

    def __init__(self, time: Callable[[Job], float]):
        self.time = time
        self._of_size: dict[int, list[Entry]] = {}

    def copy(self) -> "Shortest":
        twin = Shortest(self.time)
        twin._of_size = {size: list(entries) for size, entries in self._of_size.items()}
        return twin

    def add(self, job: Job) -> None:
        entries = self._of_size.get(job.size)
        if entries is not None:
            insort(entries, self._entry(job))

    def remove(self, job: Job) -> None:
        entries = self._of_size.get(job.size)
        if entries is not None:
            del entries[bisect_left(entries, self._entry(job))]

    def of_size(self, size: int, orders: Iterable[Order], jobs: Mapping[int, Job]) -> list[Entry]:
        """The jobs of a size, the least time first; the caller must not change the list.

        :param orders: of all jobs of the size; they, and
        :param jobs: all jobs by number, are read if the size was not asked for yet.
        """
        entries = self._of_size.get(size)
        if entries is None:
            entries = sorted([self._entry(jobs[number]) for _place, number in orders])
            self._of_size[size] = entries
        return entries

    def _entry(self, job: Job) -> Entry:
        place, number = job.order
        return self.time(job), place, number
