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


def _of_user(job: Job, request: float | None, user: Hashable) -> Iterator[tuple[Kind, int, bool]]:
    """The kinds of one user's jobs that a job belongs to, the most similar jobs first.

    :param user: None: not known, and so nobody's job is of the same user.
    :returns: each kind, how many of its jobs are kept, and whether all of them have `request`.
    """
    if user is not None:
        yield ("user, size, request", user, job.size, request), OF_USER, True
        yield ("user, request", user, request), OF_USER, True
        yield ("user, size", user, job.size), OF_USER, False
        yield ("user", user), OF_USER, False


def _of_anybody(job: Job, request: float | None) -> Iterator[tuple[Kind, int, bool]]:
    """The kinds of all users' jobs that a job belongs to; sizes count by powers of two."""
    yield ("size, request", (job.size - 1).bit_length(), request), OF_ALL, True
    yield ("request", request), OF_ALL, True
    yield ALL, OF_ALL, False


def _request(job: Job) -> float | None:
    # Users who give no estimate most often give a walltime.
    return job.walltime if job.estimate is None else job.estimate


class History:
    """Keeps a time of each past job, such as its run time, for the most recent jobs of each kind.

    A user repeats jobs, and the requested time says more of a run time than the size does.

    :param shares: whether jobs that asked for different times are compared by the share of it that
        they used, as by relative run times in Smith, Foster and Taylor (JSSPP 1998).
    """

    def __init__(self, shares: bool = False, most_kinds: int = MOST_KINDS):
        self._shares = shares
        self._most = most_kinds
        self._of_kind: dict[Kind, deque[float]] = {}
        #: The values of the kinds that were asked for since the last of them was added, ascending.
        self._ascending: dict[Kind, list[float]] = {}

    def add(self, job: Job, user: Hashable, seconds: float) -> None:
        request = _request(job)
        for kind, keep, same_request in self._kinds(job, user):
            self._append(kind, keep, seconds)
            if self._shares and request and not same_request:
                self._append(("share", *kind), keep, seconds / request)
        while len(self._of_kind) > self._most:
            oldest = next(iter(self._of_kind))
            del self._of_kind[oldest]
            self._ascending.pop(oldest, None)

    def _append(self, kind: Kind, keep: int, value: float) -> None:
        # The kind becomes the last in order, and so the last to be forgotten.
        known = self._of_kind.pop(kind, None)
        if known is None:
            known = deque(maxlen=keep)
        known.append(value)
        self._of_kind[kind] = known
        self._ascending.pop(kind, None)

    def _kinds(self, job: Job, user: Hashable) -> Iterator[tuple[Kind, int, bool]]:
        request = _request(job)
        yield from _of_user(job, request, user)
        yield from _of_anybody(job, request)

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
        for kind, unit in self._compared(job, user):
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

    def _compared(self, job: Job, user: Hashable) -> Iterator[tuple[Kind, float]]:
        """The kinds to compare a job with, the most similar first, and the unit of their values."""
        request = _request(job)
        if not (self._shares and request):
            for kind, _keep, _same in self._kinds(job, user):
                yield kind, 1.0
            return
        for kinds, without in (
            (_of_user(job, request, user), _of_user(job, None, user)),
            (_of_anybody(job, request), _of_anybody(job, None)),
        ):
            for kind, _keep, same_request in kinds:
                yield (kind, 1.0) if same_request else (("share", *kind), request)
            # Jobs that asked for no time used no share of it.
            for kind, _keep, no_request in without:
                if no_request:
                    yield kind, 1.0

    def of_each_kind(self, job: Job, user: Hashable, beyond: float) -> Iterator[list[float]]:
        """The values above `beyond` of each kind that the job belongs to, the oldest first."""
        for kind, _keep, _same in self._kinds(job, user):
            known = self._of_kind.get(kind)
            yield [value for value in known if value > beyond] if known else []
