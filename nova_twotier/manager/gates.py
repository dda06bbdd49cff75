"""Gates: what keeps a job out of the queue until a time, or until something became of other jobs.

Policies are not shown a job behind a gate, so it holds up nobody, and its place in the queue counts
from the opening of the last of its gates, so it gains nothing by having been submitted early. Its
submission sets `Job.gated`; that and what has been met is recorded, so that a new manager continues
where the last one was. A further gate is a function here, in `GATES`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import select

from nova_twotier.core.reasons import Reason, failures, waits
from nova_twotier.db.dependencies import Condition, Dependency
from nova_twotier.db.models import Job
from nova_twotier.db.states import OVER, JobState
from nova_twotier.db.store import Store
from nova_twotier.manager.operations.operation import Note
from nova_twotier.manager.round import Round

#: Jobs in one statement, to bound its length.
MANY = 500
#: What a job waits for another one to do.
_WANTED = {Condition.STARTED: "start", Condition.SUCCEEDED: "finish", Condition.OVER: "end"}


class Open(NamedTuple):
    """It keeps the job no longer; it opened at this time, in seconds since the epoch."""

    since: float


class Closed(NamedTuple):
    reason: Reason


class Locked(NamedTuple):
    """It will never open."""

    reason: Reason


class Other(NamedTuple):
    """What a gate has to know of another job; the attributes are those of `Job`."""

    state: str
    started_at: float | None
    finished_at: float | None


Verdict = Open | Closed | Locked
Others = Mapping[int, Other]


def poll(store: Store, work: Round) -> dict[int, Reason]:
    """Let the jobs into the queue whose gates are all open, and tell the others why they wait.

    :returns: why some jobs will never be in the queue, by number.
    """
    hopeless: dict[int, Reason] = {}
    behind = [job for job in work.active if job.gated and job.state == JobState.QUEUED]
    if not behind:
        return hopeless
    now, others = work.env.now, _others(store, work.jobs, behind)
    for job in behind:
        verdicts = [gate(job, others, now) for gate in GATES]
        closed = [each.reason for each in verdicts if isinstance(each, Closed)]
        if locked := [each.reason for each in verdicts if isinstance(each, Locked)]:
            hopeless[job.number] = locked[0]
        elif closed:
            if not job.held:
                job.reason = closed[0]
        else:
            job.gated = False
            job.enter_queue(max(each.since for each in verdicts if isinstance(each, Open)))
            if not job.held:
                job.reason = None
            work.note(Note(job.number, "eligible"))
    return hopeless


def _after_others(job: Job, others: Others, now: float) -> Verdict:
    """Opens when the last of the dependencies is met; that each of them is, is recorded at once."""
    given = job.dependencies
    found = [_follow(each, others.get(each.job), now) for each in given]
    if any(new is not old for new, old in zip(found, given, strict=True)):
        job.dependencies = found
    unmet = [each for each in found if each.met_at is None]
    for each in unmet:
        other = others.get(each.job)
        if other is None or other.state in OVER:
            state = "gone" if other is None else other.state
            return Locked(failures.DEPENDENCY(each.job, state=state))
    if unmet:
        first, more = unmet[0], len(unmet) - 1
        wanted = _WANTED[first.condition]
        return Closed(waits.DEPENDENCY(first.job, wanted=wanted, more=more or None))
    return Open(max((each.met_at or 0.0 for each in found), default=0.0))


def _follow(dependency: Dependency, other: Other | None, now: float) -> Dependency:
    """The dependency, with the time at which it was met if it is met now.

    :param other: the other job; None if its records were deleted, so that it is over.
    """
    if dependency.met_at is not None:
        return dependency
    condition = dependency.condition
    if other is None:
        met = condition is not Condition.SUCCEEDED
        return replace(dependency, met_at=now) if met else dependency
    if condition is Condition.STARTED and other.started_at is not None:
        return replace(dependency, met_at=other.started_at)
    succeeded = other.state == JobState.FINISHED
    if succeeded or (other.state in OVER and condition is not Condition.SUCCEEDED):
        return replace(dependency, met_at=now if other.finished_at is None else other.finished_at)
    return dependency


def _not_before(job: Job, _others: Others, now: float) -> Verdict:
    begin = job.begin_at
    if begin is None or now >= begin:
        return Open(begin or 0.0)
    at = datetime.fromtimestamp(begin, UTC).isoformat(timespec="seconds")
    return Closed(waits.BEGIN(begin=at.replace("+00:00", "Z")))


#: Each gives its verdict on a job; that of the first which is closed is the reason.
GATES = (_after_others, _not_before)


def _others(store: Store, jobs: Mapping[int, Job], behind: Iterable[Job]) -> dict[int, Other]:
    """The jobs that others depend on: those in `jobs` as they are, the rest from the database."""
    numbers = {each.job for job in behind for each in job.dependencies if each.met_at is None}
    here = [jobs[number] for number in numbers & jobs.keys()]
    found = {job.number: Other(job.state, job.started_at, job.finished_at) for job in here}
    missing = sorted(numbers - found.keys())
    if not missing:
        return found
    query = select(Job.number, Job.state, Job.started_at, Job.finished_at)
    with store.reading() as session:
        for first in range(0, len(missing), MANY):
            some = Job.number.in_(missing[first : first + MANY])
            for row in session.execute(query.where(some)):
                found[row.number] = Other(row.state, row.started_at, row.finished_at)
    return found
