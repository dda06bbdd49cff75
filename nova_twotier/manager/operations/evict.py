"""Preempt a job with its state saved: shelve all its servers, offloaded at once."""

from nova_twotier.ledger import claims
from nova_twotier.manager.db.models import JobState
from nova_twotier.manager.operations.operation import (
    Call,
    Note,
    Operation,
    Step,
    defect,
    done,
    failed,
    still_claiming,
    tried,
)


class Evict(Operation):
    def begin(self, action, jobs):
        jobs[action.job].state = JobState.PREEMPTING

    def advance(self, action, jobs, seen, env):
        job = jobs[action.job]
        gang = seen.gang(job)
        if reason := defect(gang, job.size):
            return failed(reason)
        if not action.begun and all(server.status == "SHUTOFF" for server in gang):
            return failed("it has just ended")
        remaining = [s for s in gang if s.busy or s.status != "SHELVED_OFFLOADED"]
        if not remaining and not still_claiming(action, seen):
            claims.release(env.placement, job.uuid)
            return done()
        step = Step()
        for server in remaining:
            if server.busy:
                continue
            if tried(action, server.id) >= env.attempts:
                return failed(f"server {server.id} does not shelve, it is {server.status}")
            step.calls.append(Call(server.id, lambda server=server: env.cloud.shelve(server.id)))
        return step

    def close(self, action, jobs, env):
        job = jobs[action.job]
        job.state, job.tier, job.saved = JobState.QUEUED, None, True
        job.evictions += 1
        job.reason = f"preempted by {action.plan['by']}, state saved"
        return [Note(job.number, "evicted", f"by {action.plan['by']}, state saved")]

    def undo(self, action, jobs, env):
        # What is broken about the gang is seen, and mended, at the next look.
        job = jobs[action.job]
        job.state = JobState.RUNNING
        return [Note(job.number, "not evicted", action.reason)]
