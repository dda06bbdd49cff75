"""Priorities: the waiting jobs of a project exchange their places in the queue.

Only places change hands, and each is held by one job before and after, so that no other project's
job gets more jobs in front of it. A job that starts takes its place with it.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from operator import attrgetter

from nova_twotier.db.models import Job


def exchange(waiting: Mapping[int, Job], prioritised: Set[int]) -> list[Job]:
    """Give the jobs of each project their places by priority; those of the same priority have them
    in their own order, that without priorities.

    Only jobs of the same class that may run in the same tiers exchange places: a policy without
    background would never take up the place of a job that may run only there.

    :param waiting: the jobs that policies are shown, by number. Others have no place to give away:
        a job that is too large for its pool, or is refused bandwidth or quota, takes up none.
    :param prioritised: numbers of jobs with a priority other than 0, or another's place.
    :returns: the jobs that have another place now.
    """
    projects = {waiting[number].project_id for number in prioritised if number in waiting}
    if not projects:
        return []
    alike = defaultdict[tuple, list[Job]](list)
    for job in waiting.values():
        if job.project_id in projects:
            alike[job.project_id, job.qos, job.tiers].append(job)
    return [job for jobs in alike.values() for job in _share_out(jobs)]


def _share_out(jobs: Iterable[Job]) -> list[Job]:
    holders = sorted(jobs, key=attrgetter("place", "number"))
    places = [(job.place, job.number) for job in holders]
    moved, last = [], (-math.inf, 0)
    for place, job in zip(places, sorted(holders, key=_rank), strict=True):
        # Of jobs at the same time, those with lower numbers come first. It must pass none that the
        # holder of the place did not pass, nor one of its own project with a higher priority.
        at, number = max(place, last)
        at = math.nextafter(at, math.inf) if job.number < number else at
        last = at, job.number
        if last != (job.place, job.number):
            job.take_place(at)
            moved.append(job)
    return moved


def _rank(job: Job) -> tuple[int, float, int]:
    own = job.place if job.own_place is None else job.own_place
    return -job.priority, own, job.number
