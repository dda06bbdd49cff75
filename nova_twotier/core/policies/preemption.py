"""Who may take foreground slots from whom: the rule of CMBF and AMBF, and so of CMCBF and AMCBF.

TPDS 2013, section 4.1: a job starts as soon as the slots that are idle or held by later arrivals
are enough for it (Algorithm 1). Works on counts; which slots these are is decided afterwards.
"""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

from nova_twotier.core.jobs import Job


@dataclass(slots=True)
class Selection:
    """Jobs that get the foreground, by arrival, and those that lose it, with the winner."""

    chosen: list[Job] = field(default_factory=list)
    evicted: dict[int, tuple[Job, Job]] = field(default_factory=dict)  # number: (job, preemptor)


def select(
    candidates: Iterable[Job], holders: Iterable[Job], idle: int, only_head: bool
) -> Selection:
    """Decide who holds the foreground.

    :param candidates: jobs that want it: waiting, or running in the background.
    :param holders: jobs that have it.
    :param idle: idle foreground slots.
    :param only_head: whether only the earliest candidate without slots may evict (AMBF, AMCBF).
    """
    queue = [(job.order, job) for job in candidates]
    heapq.heapify(queue)
    held = {job.number: job for job in holders}
    result = Selection()
    head = True
    while queue:
        _order, job = heapq.heappop(queue)
        if job.size > idle and (head or not only_head):
            for victim in _victims(job, held.values(), idle):
                del held[victim.number]
                idle += victim.size
                result.evicted[victim.number] = victim, job
                heapq.heappush(queue, (victim.order, victim))
        if job.size <= idle:
            idle -= job.size
            # A victim that fits after all, or preempts in its turn, never left its slots.
            if result.evicted.pop(job.number, None) is None:
                result.chosen.append(job)
        else:
            head = False
    return result


def _victims(job: Job, held: Iterable[Job], idle: int) -> list[Job]:
    """The later arrivals that `job` evicts: none if they are not enough for it."""
    later = sorted((other for other in held if other.order > job.order), key=lambda j: j.order)
    if job.size > idle + sum(other.size for other in later):
        return []
    collected = []
    free = idle
    while free < job.size:
        collected.append(later.pop())
        free += collected[-1].size
    surplus = free - job.size
    collected.sort(key=lambda other: (other.size, other.order))
    spared = 0
    while spared < len(collected) and collected[spared].size <= surplus:
        surplus -= collected[spared].size
        spared += 1
    return collected[spared:]


def held_by_later(job: Job, held: Iterable[Job]) -> int:
    """Foreground slots of the jobs that arrived after `job`."""
    return sum(other.size for other in held if other.order > job.order)
