"""Which jobs come to an end now, and which gangs are broken: rules on what is seen."""

from nova_twotier.core.actions import Tier
from nova_twotier.manager.db.models import Action, ActionKind, Job, JobState
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.operation import defect
from nova_twotier.manager.planning import PHASE_EVICT

PHASE_END = 0

_WISHES = {"complete": JobState.FINISHED, "cancel": JobState.CANCELLED}


def endings(job: Job, seen: Observation, attempts: int) -> Action | None:
    """The action that a job in peace (queued or running, nothing under way) calls for, if any."""
    gang = seen.gang(job)
    if job.wish:
        return _end(job, _WISHES[job.wish], "as its owner asked", seen)
    if job.state == JobState.QUEUED:
        fresh = job.started_at is None
        if fresh and seen.hosts and job.size > seen.shape_slots():
            slots = seen.shape_slots()
            reason = f"needs {job.size} slots, the cluster has {slots}: submit it with fewer"
            return _end(job, JobState.FAILED, reason, seen)
        if job.failures >= attempts and not job.saved:
            return _end(job, JobState.FAILED, job.reason, seen)
        return None
    if len(gang) == job.size and all(server.status == "SHUTOFF" for server in gang):
        return _end(job, JobState.FINISHED, "", seen)
    if reason := defect(gang, job.size):
        job.failures += 1
        return _end(job, JobState.QUEUED, f"restarts from the beginning: {reason}", seen)
    at_rest = not any(server.busy for server in gang)
    if at_rest and not (seen.whole(job) and seen.in_tier(job, Tier(job.tier))):
        plan = {"by": f"the manager: its servers are not all in {job.tier}", "mend": True}
        return Action(
            kind=ActionKind.EVICT,
            phase=PHASE_EVICT,
            job=job.number,
            plan=plan,
            begun={},
            created_at=seen.at,
        )
    return None


def _end(job: Job, then: JobState, reason: str, seen: Observation) -> Action:
    plan = {"then": then, "reason": reason, "at": seen.at}
    return Action(
        kind=ActionKind.END,
        phase=PHASE_END,
        job=job.number,
        plan=plan,
        begun={},
        created_at=seen.at,
    )
