"""Past jobs, found by how similar they are to a new one: user, size and requested time."""

from bisect import bisect_right
from collections import deque
from collections.abc import Hashable, Iterator

from nova_twotier.core.jobs import Job

#: Fewer similar jobs than this say little: less similar ones are asked then.
ENOUGH = 3
#: Recent jobs that are kept of one user's kind, and of a kind of all users.
OF_USER, OF_ALL = 20, 200
#: Kinds that are kept; those without a new job for the longest time are forgotten first.
MOST_KINDS = 50_000

Kind = tuple[Hashable, ...]
#: The kind that every job belongs to.
ALL: Kind = ("all",)


def kinds(job: Job, user: Hashable, shares: bool) -> Iterator[tuple[Kind, int, float]]:
    """The kinds that a job belongs to, the most similar jobs first.

    A user repeats jobs, and the requested time says more of a run time than the size does; the
    sizes of other users' jobs count by powers of two.

    :param user: None: not known, and so nobody's job is of the same user.
    :param shares: whether times of jobs that asked for different ones are in units of these.
    :returns: for each kind, how many jobs are kept, and the unit of their times, in seconds.
    """
    # Users who give no estimate most often give a walltime.
    request = job.walltime if job.estimate is None else job.estimate
    for kind, keep, same_request in _kinds(job.size, request, user):
        if same_request or not request or not shares:
            yield kind, keep, 1.0
        else:
            yield ("share", *kind), keep, request


def _kinds(size: int, request: float | None, user: Hashable) -> Iterator[tuple[Kind, int, bool]]:
    """Each kind, how many of its jobs are kept, and whether all of them asked for the same time."""
    if user is not None:
        yield ("user, size, request", user, size, request), OF_USER, True
        yield ("user, request", user, request), OF_USER, True
        yield ("user, size", user, size), OF_USER, False
        yield ("user", user), OF_USER, False
    yield ("size, request", (size - 1).bit_length(), request), OF_ALL, True
    yield ("request", request), OF_ALL, True
    yield ALL, OF_ALL, False


class History:
    """A number of seconds of each past job, such as its run time; bounded.

    :param shares: whether a job that asked for a time is compared with jobs that asked for another
        one by the share of it that they used (as by relative run times in Smith, Foster and
        Taylor, JSSPP 1998), and not with jobs that asked for none.
    """

    def __init__(self, shares: bool = False, most_kinds: int = MOST_KINDS):
        self._shares = shares
        self._most = most_kinds
        self._of_kind: dict[Kind, deque[float]] = {}
        #: The values of the kinds that were asked for since the last of them was added, ascending.
        self._ascending: dict[Kind, list[float]] = {}

    def add(self, job: Job, user: Hashable, seconds: float) -> None:
        # Jobs that ask for no time are compared with all others by seconds.
        in_seconds = kinds(job, user, shares=False)
        for kind, keep, unit in dict.fromkeys([*in_seconds, *kinds(job, user, self._shares)]):
            # The kind becomes the last in order, and so the last to be forgotten.
            known = self._of_kind.pop(kind, None)
            if known is None:
                known = deque(maxlen=keep)
            known.append(seconds / unit)
            self._of_kind[kind] = known
            self._ascending.pop(kind, None)
        while len(self._of_kind) > self._most:
            oldest = next(iter(self._of_kind))
            del self._of_kind[oldest]
            self._ascending.pop(oldest, None)

    @property
    def tells_little(self) -> bool:
        """Whether fewer than `ENOUGH` jobs have been added."""
        return len(self._of_kind.get(ALL, ())) < ENOUGH

    def similar(self, job: Job, user: Hashable, beyond: float) -> list[float]:
        """The values of the most similar jobs, ascending; empty if there are none.

        :param beyond: only values above this one: a job that has run for an hour will not have the
            run time of those that ended before.
        """
        best: list[float] = []
        for kind, _keep, unit in kinds(job, user, self._shares):
            values = self._ascending.get(kind)
            if values is None:
                if kind not in self._of_kind:
                    continue
                values = self._ascending[kind] = sorted(self._of_kind[kind])
            first = bisect_right(values, beyond / unit)
            if len(values) - first > len(best):
                best = [value * unit for value in values[first:]]
                if len(best) >= ENOUGH:
                    break
        return best

    def of_each_kind(self, job: Job, user: Hashable, beyond: float) -> Iterator[list[float]]:
        """The values above `beyond` of each kind that the job belongs to, the oldest first."""
        for kind, _keep, unit in kinds(job, user, self._shares):
            times = [value * unit for value in self._of_kind.get(kind, ())]
            yield [seconds for seconds in times if seconds > beyond]
