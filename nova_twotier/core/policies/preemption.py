"""Selects which jobs preempt which in the foreground: the rule of CMBF and CMCBF.

TPDS 2013, section 4.1: a job starts as soon as the slots that are idle or held by later arrivals
are enough for it (Algorithm 1). Works on counts; which slots these are is decided afterwards. A job
with processes on hosts that take no new VMs counts with the slots that it would free elsewhere.
`turns` has the rule of AMBF and AMCBF.
"""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import NOTHING, Run
from nova_twotier.core.jobs import Job, Order
from nova_twotier.core.queue import Queue
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.core.snapshot import Snapshot

_order = attrgetter("order")
#: With so few candidates, checking each of them is faster.
_FEW = 50
#: Below a foreground that has nothing below it; it stays empty.
NOBODY = Queue()
#: Reasons that are kept, to be shared by jobs that are alike.
MOST_REASONS = 4096


class Selection(NamedTuple):
    """Jobs that get the foreground, in turn, and jobs that lose it, with their preemptors."""

    chosen: list[Job]
    evicted: dict[int, tuple[Job, Job]]  # number: (job, preemptor)


def select(
    queue: Queue,
    below: Queue,
    evictable: Callable[[Order], list[Run]],
    idle: int,
    straddling: Mapping[int, int] = NOTHING,
    settling: Callable[[Order], int] | None = None,
) -> Selection:
    """Decide who holds the foreground.

    :param queue: the waiting jobs; they, and
    :param below: the jobs that run in the background are the candidates.
    :param evictable: the runs that have it and may lose it to one of a position, by arrival.
    :param idle: idle foreground slots.
    :param straddling: as of `Cluster.straddling`.
    :param settling: as `Snapshot.settling_slots`.
    """
    first, promoted = queue.head, below.head
    if promoted is not None and (first is None or promoted.order < first.order):
        first = promoted
    if first is None:
        return Selection([], {})
    # The earliest could get the most, since most others arrived later; mostly, all holders arrived
    # before. Candidates that need more are not checked.
    runs = evictable(first.order)
    held = Holders(by_places(runs, straddling))
    reach = idle + held.slots + (settling(first.order) if settling is not None else 0)
    if not (below.has_fitting(reach) or queue.has_fitting(reach)):
        return Selection([], {})
    chosen: list[Job] = []
    evicted: dict[int, tuple[Job, Job]] = {}
    candidates: _Each | _FirstOfEachSize
    if len(queue) + len(below) <= _FEW:
        candidates = _Each(queue, below, reach)
    else:
        candidates = _FirstOfEachSize(queue, below, reach)
    while (job := candidates.next()) is not None:
        if idle < job.size <= idle + held.later(job):
            victims = held.victims(job, idle)
            for victim in victims:
                held.remove(victim)
                idle += victim.size
                evicted[victim.number] = victim, job
            candidates.restore(victims, job)
        if job.size <= idle:
            idle -= job.size
            candidates.accept(job)
            # A victim that fits after all, or preempts in its turn, never left its slots.
            if evicted.pop(job.number, None) is None:
                chosen.append(job)
        else:
            if not idle and not held.slots:
                break
            if settling and job.size <= idle + held.later(job) + settling(job.order):
                spare(evicted, idle)
                break
            candidates.refuse(job)
    return Selection(chosen, whole(evicted, runs) if straddling else evicted)


def spare(evicted: dict[int, tuple[Job, Job]], idle: int) -> None:
    """Let evicted jobs that fit the idle slots keep them: they can still be evicted later."""
    for victim in sorted((victim for victim, _by in evicted.values()), key=_order):
        if victim.size <= idle:
            idle -= victim.size
            del evicted[victim.number]


def by_places(runs: list[Run], straddling: Mapping[int, int]) -> list[Run]:
    """The runs, each job cut down to as many processes as it would free places.

    :param straddling: as of `Cluster.straddling`.
    """
    if not straddling:
        return runs
    cut = []
    for run in runs:
        job, places = run.job, straddling.get(run.job.number)
        if places is not None:
            run = run._replace(job=replace(job, size=places, cpu=job.cpu[:places]))
        cut.append(run)
    return cut


def whole(
    evicted: Mapping[int, tuple[Job, Job]], runs: Iterable[Run]
) -> dict[int, tuple[Job, Job]]:
    """Replace victims and preemptors that `by_places` has cut by the whole jobs.

    :param runs: before they were cut.
    """
    jobs = {run.job.number: run.job for run in runs}
    return {
        number: (jobs[number], jobs.get(by.number, by)) for number, (_victim, by) in evicted.items()
    }


class _Each:
    """Candidates for the foreground by arrival, each checked, because they are few.

    :param largest: slots that one of them could get at most.
    """

    def __init__(self, queue: Queue, below: Queue, largest: int):
        self._jobs = jobs = list(queue)
        if below:
            jobs += below
            jobs.sort(key=_order)
        self._largest = largest
        #: Candidates still to be checked, the earliest last.
        self._turns = [job for job in reversed(jobs) if job.size <= largest]

    def next(self) -> Job | None:
        return self._turns.pop() if self._turns else None

    def accept(self, job: Job) -> None:
        """`job`, the one of the last turn, got its slots."""

    def refuse(self, job: Job) -> None:
        """`job`, the one of the last turn, can neither start nor evict: nor can those as large."""
        size = job.size
        self._turns = [other for other in self._turns if other.size < size]

    def restore(self, victims: Iterable[Job], job: Job) -> None:
        """`job` evicted the victims: they become candidates, and refused jobs are tried again."""
        self._jobs = sorted([*self._jobs, *victims], key=_order)
        after = bisect_right(self._jobs, job.order, key=_order)
        largest = self._largest
        self._turns = [other for other in reversed(self._jobs[after:]) if other.size <= largest]


class _FirstOfEachSize:
    """Many candidates for the foreground: of each size only the earliest is checked.

    If it can neither start nor evict, the others of its size cannot either, until an eviction
    leaves more slots idle than were needed.
    """

    def __init__(self, queue: Queue, below: Queue, largest: int):
        self._queue = queue
        self._below = below
        first = {job.size: job for job in below.first_of_each_size(largest)}
        for job in queue.first_of_each_size(largest):
            if first.setdefault(job.size, job).order > job.order:
                first[job.size] = job
        #: Position and job.
        self._turns: list[tuple[float, int, Job]] = []
        for job in first.values():
            place, number = job.order
            self._turns.append((place, number, job))
        heapq.heapify(self._turns)
        self._sizes = set(first)
        self._victims: set[int] = set()

    def next(self) -> Job | None:
        return heapq.heappop(self._turns)[2] if self._turns else None

    def accept(self, job: Job) -> None:
        # The next of its size gets its turn.
        if job.number not in self._victims:
            self._advance(job.size, job)

    def refuse(self, job: Job) -> None:
        """The others of its size have no turn."""

    def restore(self, victims: Iterable[Job], job: Job) -> None:
        due = {other.size for _, number, other in self._turns if number not in self._victims}
        if job.number not in self._victims:
            due.add(job.size)
        for size in self._sizes - due:
            self._advance(size, job)
        for victim in victims:
            self._victims.add(victim.number)
            self._add(victim)

    def _advance(self, size: int, after: Job) -> None:
        """The earliest of a size that arrived after a job gets a turn."""
        waiting = self._queue.next_of_size(size, after.order)
        earliest = self._below.next_of_size(size, after.order)
        if earliest is None or (waiting is not None and waiting.order < earliest.order):
            earliest = waiting
        if earliest is not None:
            self._add(earliest)

    def _add(self, job: Job) -> None:
        place, number = job.order
        heapq.heappush(self._turns, (place, number, job))


class Holders:
    """Jobs that hold slots and may lose them, by arrival."""

    def __init__(self, runs: Iterable[Run]):
        self._jobs = [run.job for run in runs]
        #: How many slots they hold.
        self.slots = sum([job.size for job in self._jobs])
        self._later: list[int] | None = None

    def remove(self, job: Job) -> None:
        del self._jobs[bisect_right(self._jobs, job.order, key=_order) - 1]
        self.slots -= job.size
        self._later = None

    def later(self, job: Job) -> int:
        """Slots of those that arrived after `job`."""
        jobs = self._jobs
        if not jobs or jobs[-1].order < job.order:
            return 0
        if jobs[0].order > job.order:
            return self.slots
        if self._later is None:
            sizes = [held.size for held in self._jobs]
            self._later = [self.slots - before for before in accumulate(sizes, initial=0)]
        return self._later[bisect_right(self._jobs, job.order, key=_order)]

    def collect(self, job: Job, idle: int) -> list[Job]:
        """The latest arrivals whose slots `job` needs besides the idle ones."""
        collected = []
        for held in reversed(self._jobs):
            if idle >= job.size:
                break
            collected.append(held)
            idle += held.size
        return collected

    def victims(self, job: Job, idle: int) -> list[Job]:
        """The jobs that have to be evicted for `job`; the others are spared."""
        collected = self.collect(job, idle)
        return spared(collected, idle + sum(held.size for held in collected) - job.size)


def spared(collected: list[Job], surplus: int) -> list[Job]:
    """The collected jobs that still have to be evicted; the smallest are spared if possible.

    :param surplus: slots that would be left over.
    """
    collected = sorted(collected, key=lambda job: (job.size, job.order))
    count = 0
    while count < len(collected) and collected[count].size <= surplus:
        surplus -= collected[count].size
        count += 1
    return collected[count:]


def kept_for(snapshot: Snapshot, held: Holders, only_head: bool) -> Job | None:
    """The waiting job for which idle foreground slots are kept free; None if there is none.

    It waits until later jobs may be evicted: see `Snapshot.settling_slots`.

    :param only_head: whether it can only be the first that does not fit them.
    """
    settling, idle = snapshot.settling_slots, snapshot.cluster.idle[FG]
    if settling is None:
        return None
    candidates = [*snapshot.queue.allowed(FG), *snapshot.cluster.promotable]
    larger = sorted([job for job in candidates if job.size > idle], key=_order)
    if only_head:
        larger = [job for job in larger[:1] if job.order < snapshot.away]
    for job in larger:
        if job.size <= idle + held.later(job) + settling(job.order):
            return job
    return None


@lru_cache(MOST_REASONS)
def lacks(
    size: int, idle: int, later: int, below: int | None = None, first: int | None = None
) -> Reason:
    """Why a job waits that may run in the foreground; the same object for all alike.

    :param idle: idle foreground slots.
    :param later: foreground slots that later jobs hold and may lose.
    :param below: open and idle background slots; None if it may not run there.
    :param first: number of the job whose turn comes before its own, under a policy with turns.
    """
    code = waits.SLOTS if first is None else waits.TURN
    return code(first, size=size, idle=idle, later=later or None, open=below)


@lru_cache(MOST_REASONS)
def lacks_background(size: int, idle: int) -> Reason:
    """Why a job waits that may run in the background only."""
    return waits.BACKGROUND_SLOTS(size=size, open=idle)
