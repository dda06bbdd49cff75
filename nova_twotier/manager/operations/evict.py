"""Preempt a job: shelve or suspend all its servers, or delete them and let it begin anew."""

from datetime import UTC, datetime

from nova_twotier.db.models import JobState, Preemption
from nova_twotier.ledger import claims
from nova_twotier.manager.operations import bandwidth
from nova_twotier.manager.operations.operation import (
    UNDOING,
    Call,
    Note,
    Operation,
    Step,
    defect,
    done,
    failed,
    has_just_ended,
    overdue,
    remove,
    still_claiming,
    told,
    too_long,
    tried,
    with_fault,
)
from nova_twotier.manager.operations.saving import SUSPENDED, is_saved, resume, save


class Evict(Operation):
    """The plan's mode says what becomes of the job's work."""

    def begin(self, action, jobs):
        jobs[action.job].state = JobState.PREEMPTING

    def advance(self, action, jobs, seen, env):
        job = jobs[action.job]
        gang = seen.gang(job)
        if UNDOING in action.begun:
            return self._take_back(action, gang, env)
        if has_just_ended(action, gang):
            return failed(action, "it has just ended")
        if _mode(action) is Preemption.REQUEUE:
            step = remove(action, job, seen, env)
        elif reason := defect(job, seen):
            return failed(action, with_fault(reason, gang), reason)
        elif refused := self._refused(action, gang, env):
            return self._give_up(action, gang, env, refused)
        else:
            step = self._save(action, gang, seen, env)
        if step is None:
            if calls := bandwidth.withdraw(action, job, gang, env):
                return Step(calls)
            claims.release(env.placement, job.uuid)
            return done()
        if overdue(action, env, grace=_grace(action, env)):
            return self._give_up(action, gang, env, too_long(gang, env))
        return step

    @staticmethod
    def _refused(action, gang, env):
        """What it is given up for, after as many attempts as allowed."""
        mode = _mode(action)
        for server in gang:
            given_up = tried(action, server.id) >= env.attempts
            if given_up and not server.busy and not is_saved(server, mode):
                return f"server {server.id} does not {mode}, it is {server.status}"
        return ""

    def _save(self, action, gang, seen, env):
        mode = _mode(action)
        if env.now < action.begun_at + _grace(action, env):
            return self._notify(action, gang, env)
        step = save(gang, mode, env)
        if step.calls or not all(is_saved(server, mode) for server in gang):
            return step
        if mode is SUSPENDED:
            claims.vacate(env.placement, seen.hosts, [server.id for server in gang])
            return None
        return Step() if still_claiming(action, seen, env) else None

    def _give_up(self, action, gang, env, reason):
        action.begun = {**action.begun, UNDOING: reason}
        return self._take_back(action, gang, env)

    @staticmethod
    def _take_back(action, gang, env):
        """What was suspended goes on: it has its slots still. A gang that is shelved in part is
        seen at the next poll, and mended."""
        if _mode(action) is SUSPENDED and not overdue(action, env, 2):
            calls = resume(action, gang, env)
            late = overdue(action, env)
            waits = (server for server in gang if not late or server.status == "SUSPENDED")
            if calls or any(server.busy for server in waits):
                return Step(calls)
        return failed(action, action.begun[UNDOING])

    @staticmethod
    def _notify(action, gang, env):
        """Say when the guests are told to shut down; they may use the time until then."""
        at = datetime.fromtimestamp(action.begun_at + _grace(action, env), UTC)
        text = f"preempted at {at.isoformat(timespec='seconds')}"
        return Step(
            [
                Call(f"notice {server.id}", lambda server=server: env.cloud.notice(server, text))
                for server in gang
                if not server.busy and not tried(action, f"notice {server.id}")
            ]
        )

    def close(self, action, jobs, env):
        job = jobs[action.job]
        by = action.plan["by"]
        job.state, job.tier = JobState.QUEUED, None
        job.evictions += 1
        job.reset_backoff()
        if _mode(action) is Preemption.REQUEUE:
            job.begin_anew()
            job.reason = f"preempted by {by}, begins anew"
            return [Note(job.number, "killed", f"by {by}, begins anew")]
        job.stop(action.begun_at)
        job.saved = True
        job.reason = f"preempted by {by}, state saved"
        return [Note(job.number, "evicted", f"by {by}, state saved")]

    def undo(self, action, jobs, env):
        # What is broken about the gang is seen, and mended, at the next poll.
        job = jobs[action.job]
        job.state = JobState.RUNNING
        job.back_off(env.now)
        return [Note(job.number, "not evicted", told(action))]


def _grace(action, env) -> float:
    """Seconds that the guests are given before they are shelved."""
    return env.preemption_grace if _mode(action) is Preemption.SHELVE else 0.0


def _mode(action) -> Preemption:
    # Evictions that an earlier release began have none.
    return Preemption(action.plan.get("mode", Preemption.SHELVE))
