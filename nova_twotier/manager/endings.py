"""Which jobs come to an end now, and which gangs are broken: rules on what is seen."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import Effect, Reason, changes, failures
from nova_twotier.db.models import Action, Job
from nova_twotier.db.plans import EndPlan, EvictPlan, Plan, PowerOnPlan
from nova_twotier.db.states import REQUEUE, ActionKind, JobState, Preemption
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import defect
from nova_twotier.manager.planning import PHASE_EVICT
from nova_twotier.manager.shutdowns import Shutdown, Verdicts

#: The phase of actions that wait for no others, and that no others wait for.
PHASE_END = 0

_OUTCOMES = {"complete": JobState.FINISHED, "cancel": JobState.CANCELLED}
NONE_HOPELESS: Mapping[int, Reason] = MappingProxyType({})


def endings(
    job: Job,
    seen: Observation,
    attempts: int,
    off: Verdicts,
    hopeless: Mapping[int, Reason] = NONE_HOPELESS,
) -> Action | None:
    """The action that a queued or running job without an open one needs now; None if none.

    :param attempts: how often an operation is tried.
    :param off: why servers are off, where that is known.
    :param hopeless: why jobs will never be in the queue, by number.
    """
    if job.requested_action:
        reason = failures.REQUESTED(action=job.requested_action)
        if job.requested_action == REQUEUE:
            return _end(job, JobState.QUEUED, reason.led_to(Effect.RESTARTED), seen)
        return _end(job, _OUTCOMES[job.requested_action], reason, seen)
    if job.number in hopeless:
        return _end(job, JobState.CANCELLED, hopeless[job.number], seen)
    if job.state == JobState.QUEUED:
        return _waiting(job, seen, attempts)
    return _running(job, seen, attempts, off)


def _waiting(job: Job, seen: Observation, attempts: int) -> Action | None:
    if job.saved:
        reason = defect(job, seen)
        return _broken(job, reason, seen) if reason else None
    if job.failures >= attempts:
        return _end(job, JobState.FAILED, job.reason, seen)
    return None


def _running(job: Job, seen: Observation, attempts: int, off: Verdicts) -> Action | None:
    gang = seen.gang(job)
    shutdowns = [off[server.id] for server in gang if server.id in off] if off else []
    befallen = [(each.cause, each) for each in shutdowns if each.cause]
    if len(gang) == len(shutdowns) == job.size and not befallen:
        return _ended(job, shutdowns, seen)
    if job.walltime is not None and job.ran(seen.at) >= job.walltime:
        return _end(job, JobState.FAILED, failures.WALLTIME(walltime=job.walltime), seen)
    if not befallen and seen.remember_of(job, "sound", job.tier, lambda: _is_sound(job, seen)):
        return None
    if reason := defect(job, seen):
        return _broken(job, reason, seen)
    if seen.at < job.not_before or seen.busy(job):
        return None
    if befallen and not any(server.shelved for server in gang):
        cause, shutdown = max(befallen, key=lambda each: each[1].vain)
        return _power_on(job, cause, shutdown, seen, attempts)
    if _together(job, seen):
        return None
    # Shelve it, whatever mode it asks for: that keeps its work, and it may restart on any host.
    # What is off while others are shelved is not started before: it could not work without them.
    plan = EvictPlan(_apart(job, seen), Preemption.SHELVE, repairs=True)
    return _action(ActionKind.EVICT, PHASE_EVICT, job.number, plan, seen.at)


def _apart(job: Job, seen: Observation) -> Reason:
    """The reason why a running job is evicted whose servers cannot work together."""
    if any(server.host and server.host not in seen.index for server in seen.gang(job)):
        return changes.OUTSIDE_POOL(pool=job.pool)
    return changes.SCATTERED(tier=job.tier)


def _ended(job: Job, shutdowns: Iterable[Shutdown], seen: Observation) -> Action:
    """The end of a job whose guests have all ended."""
    statuses = [each.exit_status for each in shutdowns]
    for process, status in enumerate(statuses):
        if status:
            reason = failures.EXIT_STATUS(process=process, status=status)
            return _end(job, JobState.FAILED, reason, seen, status)
    return _end(job, JobState.FINISHED, None, seen, None if None in statuses else 0)


def _power_on(
    job: Job, reason: Reason, shutdown: Shutdown, seen: Observation, attempts: int
) -> Action:
    """Start the servers again from their disks, unless that was tried often enough."""
    if shutdown.unreported and shutdown.vain >= attempts:
        return _end(job, JobState.FAILED, reason.plus(times=shutdown.vain), seen)
    if max(shutdown.vain, job.failures) >= attempts:
        return _broken(job, reason, seen)
    return _action(ActionKind.POWER_ON, PHASE_END, job.number, PowerOnPlan(reason), seen.at)


def _is_sound(job: Job, seen: Observation) -> bool:
    """Whether a running job needs nothing, as long as none of its servers is off."""
    return defect(job, seen) is None and _together(job, seen)


def _together(job: Job, seen: Observation) -> bool:
    """Whether its processes can work together: all on slots of its tier, and not some suspended."""
    statuses = {server.status for server in seen.gang(job)}
    return (
        seen.whole(job)
        and seen.in_tier(job, Tier(job.tier or ""))
        and not {"ACTIVE", "SUSPENDED"} <= statuses
    )


def _broken(job: Job, reason: Reason, seen: Observation) -> Action:
    """Let a job whose gang is no longer whole begin anew, as often as its retries allow."""
    if job.requeues < job.retries:
        return _end(job, JobState.QUEUED, reason.led_to(Effect.RESTARTED), seen, lost=True)
    if job.retries:
        reason = reason.led_to(Effect.GIVEN_UP)
    return _end(job, JobState.FAILED, reason, seen, lost=True)


def _end(
    job: Job,
    then: JobState,
    reason: Reason | None,
    seen: Observation,
    exit_status: int | None = None,
    lost: bool = False,
) -> Action:
    return end_by(EndPlan(then, reason, seen.at, exit_status, lost), job.number, seen.at)


def end_by(plan: EndPlan, job: int, now: float) -> Action:
    """Create the action that ends a job's present run, from a plan.

    :param job: its number.
    """
    return _action(ActionKind.END, PHASE_END, job, plan, now)


def _action(kind: ActionKind, phase: int, job: int, plan: Plan, now: float) -> Action:
    return Action(kind=kind, phase=phase, job=job, plan=plan, created_at=now)
