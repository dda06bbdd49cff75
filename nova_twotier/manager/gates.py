"""Gates: what keeps a job out of the queue until a time, until something became of other jobs, or
while as many tasks of its array as may be are in the queue or run.

Policies are not shown a job behind a gate, so it holds up nobody, and its place in the queue counts
from the opening of the last of its gates, so it gains nothing by having been submitted early. Its
submission sets `Job.gated`; that and what has been met is recorded, so that a new manager continues
where the last one was. A further gate is a function here, in `GATES`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import NamedTuple

from sqlalchemy import Row, select

from nova_twotier.core.reasons import Reason, failures, waits
from nova_twotier.db import arrays
from nova_twotier.db.dependencies import Condition, Dependency
from nova_twotier.db.models import Job
from nova_twotier.db.parts import in_parts
from nova_twotier.db.readers import instant
from nova_twotier.db.states import OVER, JobState
from nova_twotier.db.store import Store
from nova_twotier.manager.operations.operation import Note
from nova_twotier.manager.round import Round

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
    number: int

    @property
    def failed(self) -> tuple[int, str] | None:
        """The number and the state of the job if it did not succeed."""
        unsuccessful = self.state in OVER and self.state != JobState.FINISHED
        return (self.number, self.state) if unsuccessful else None


@dataclass(frozen=True)
class Facts:
    """What gates have to know besides the job.

    :ivar others: the jobs that others depend on, by number; the arrays in `whole_arrays`.
    :ivar room: how many more tasks of arrays may come into the queue, by the array's number; it
        gets less while gates open. Arrays without a limit are not in it.
    :ivar limits: of arrays, by number.
    """

    now: float
    others: Mapping[int, Other]
    whole_arrays: Mapping[int, arrays.Whole]
    room: dict[int, int]
    limits: Mapping[int, int | None]

    def other(self, dependency: Dependency) -> Other | arrays.Whole | None:
        if dependency.array:
            return self.whole_arrays.get(dependency.job)
        return self.others.get(dependency.job)


Verdict = Open | Closed | Locked


def poll(store: Store, work: Round) -> dict[int, Reason]:
    """Let the jobs into the queue whose gates are all open, and tell the others why they wait.

    :returns: why some jobs will never be in the queue, by number.
    """
    hopeless: dict[int, Reason] = {}
    behind = [
        job
        for job in work.active
        if job.gated and job.state == JobState.QUEUED and not job.requested_action
    ]
    if not behind and not work.behind_limit:
        return hopeless
    facts = _facts(store, work, behind)
    if next_ones := _next_of_arrays(work.behind_limit.values(), facts.room):
        # All of them in the order of the queue: the first ones get the room that there is.
        behind = sorted([*behind, *next_ones], key=attrgetter("eligible_at", "number"))
    for job in behind:
        verdicts = [gate(job, facts) for gate in GATES]
        closed = [each.reason for each in verdicts if isinstance(each, Closed)]
        if locked := [each.reason for each in verdicts if isinstance(each, Locked)]:
            hopeless[job.number] = locked[0]
        elif closed:
            if not job.held:
                job.reason = closed[0]
        else:
            job.gated = False
            if job.array in facts.room:
                facts.room[job.array] -= 1
            job.enter_queue(max(each.since for each in verdicts if isinstance(each, Open)))
            if not job.held:
                job.reason = None
            work.note(Note(job.number, "eligible"))
    return hopeless


def _after_others(job: Job, facts: Facts) -> Verdict:
    """Opens when the last of the dependencies is met; that each of them is, is recorded at once."""
    given = job.dependencies
    found = [_follow(each, facts.other(each), facts.now) for each in given]
    if any(new is not old for new, old in zip(found, given, strict=True)):
        job.dependencies = found
    unmet = [each for each in found if each.met_at is None]
    for each in unmet:
        other = facts.other(each)
        if other is None:
            if each.array:
                return Locked(failures.ARRAY_GONE(array=each.job))
            return Locked(failures.DEPENDENCY(each.job, state="gone"))
        if each.condition is Condition.SUCCEEDED and other.failed:
            number, state = other.failed
            return Locked(failures.DEPENDENCY(number, state=state))
    if unmet:
        first, more = unmet[0], len(unmet) - 1
        wanted = _WANTED[first.condition]
        if first.array:
            reason = waits.ARRAY_DEPENDENCY(array=first.job, wanted=wanted, more=more or None)
            return Closed(reason)
        return Closed(waits.DEPENDENCY(first.job, wanted=wanted, more=more or None))
    return Open(max((each.met_at or 0.0 for each in found), default=0.0))


def _follow(dependency: Dependency, other: Other | arrays.Whole | None, now: float) -> Dependency:
    """The dependency, with the time at which it was met if it is met now.

    :param other: the other job or array; None if its records were deleted, so that it is over.
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


def _not_before(job: Job, facts: Facts) -> Verdict:
    begin = job.begin_at
    if begin is None or facts.now >= begin:
        return Open(begin or 0.0)
    return Closed(waits.BEGIN(begin=instant(begin)))


def _in_array(job: Job, facts: Facts) -> Verdict:
    """Opens when fewer tasks of its array than may be are in the queue or run; a held one waits
    here until it is released, since it would take up the place of another one."""
    if job.array is None or job.array not in facts.room:
        return Open(0.0)
    if job.held or facts.room[job.array] < 1:
        return Closed(waits.ARRAY_LIMIT(limit=facts.limits[job.array]))
    return Open(facts.now)


#: Each gives its verdict on a job; that of the first which is closed is the reason.
GATES: tuple[Callable[[Job, Facts], Verdict], ...] = (_after_others, _not_before, _in_array)


def _next_of_arrays(waiting: Iterable[Job], room: Mapping[int, int]) -> list[Job]:
    """Those of the tasks that there may be room for in their arrays.

    :param waiting: for other tasks of their arrays alone, in the order of the queue.
    """
    left, found = {number: most for number, most in room.items() if most > 0}, []
    for job in waiting if left else ():
        if job.array in left:
            found.append(job)
            left[job.array] -= 1
            if not left[job.array]:
                del left[job.array]
                if not left:
                    break
    return found


def _facts(store: Store, work: Round, behind: Collection[Job]) -> Facts:
    unmet = [each for job in behind for each in job.dependencies if each.met_at is None]
    others = _others(store, work.jobs, {each.job for each in unmet if not each.array})
    awaited = {each.job for each in unmet if each.array}
    tasks = [*behind, *work.behind_limit.values()]
    limited = {job.array for job in tasks if job.array is not None}
    whole: dict[int, arrays.Whole] = {}
    limits: dict[int, int | None] = {}
    if awaited or limited:
        with store.reading() as session:
            whole = arrays.whole(session, awaited)
            limits = arrays.limits(session, limited)
    room = {number: limit for number, limit in limits.items() if limit is not None}
    if room:
        for number, job in work.jobs.items():
            if number in work.behind_limit or job.array not in room:
                continue
            if job.in_queue or job.state != JobState.QUEUED:
                room[job.array] -= 1
    return Facts(work.env.now, others, whole, room, limits)


def _others(store: Store, jobs: Mapping[int, Job], numbers: Set[int]) -> dict[int, Other]:
    """The jobs of these numbers: those in `jobs` as they are, the rest from the database."""
    here = [jobs[number] for number in numbers & jobs.keys()]
    found = {job.number: _other(job) for job in here}
    missing = numbers - found.keys()
    if not missing:
        return found
    query = select(Job.number, Job.state, Job.started_at, Job.finished_at)
    with store.reading() as session:
        for some in in_parts(missing):
            for row in session.execute(query.where(Job.number.in_(some))):
                found[row.number] = _other(row)
    return found


def _other(job: Job | Row) -> Other:
    return Other(job.state, job.started_at, job.finished_at, job.number)
