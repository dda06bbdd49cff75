"""Start a job as a gang in one tier: boot all its servers at once, or unshelve saved ones."""

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims
from nova_twotier.manager.db.models import JobState
from nova_twotier.manager.operations.operation import (
    OWNER,
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

BOOT = "boot"
#: Longest wait before a job whose start failed is considered again, seconds.
LONGEST_PAUSE = 60


class Start(Operation):
    def begin(self, action, jobs):
        job = jobs[action.job]
        job.state = JobState.RESTORING if job.saved else JobState.STARTING
        job.tier = action.plan["tier"]
        job.reason = ""

    def advance(self, action, jobs, seen, env):
        job = jobs[action.job]
        gang = seen.gang(job)
        if "undoing" in action.begun:
            return self._take_back(action, job, gang, seen, env)
        if job.saved:
            return self._restore(action, job, gang, seen, env)
        return self._boot(action, job, gang, seen, env)

    def _boot(self, action, job, gang, seen, env):
        if len(gang) < job.size:
            # Not all of them, or none: the request may still be under way.
            if tried(action, BOOT) and env.now < action.begun["at"] + env.boot_grace:
                return Step()
            if gang or tried(action, BOOT) >= env.attempts:
                reason = f"Nova made {len(gang)} of {job.size} servers"
                return self._take_back(action, job, gang, seen, env, reason)
            action.begun = {**action.begun, "at": env.now}
            self._admit(job, env)
            uuid, name, size = job.uuid, f"tt-{job.number}", job.size
            return Step([Call(BOOT, lambda: env.cloud.boot(uuid, name, size))])
        if len(gang) > job.size:
            reason = f"Nova made {len(gang)} servers for {job.size} processes"
            return self._take_back(action, job, gang, seen, env, reason)
        return self._settle(action, job, gang, seen, env)

    def _restore(self, action, job, gang, seen, env):
        step = Step()
        for server in gang:
            if server.busy or server.status != "SHELVED_OFFLOADED":
                continue
            if tried(action, server.id) >= env.attempts:
                reason = f"server {server.id} finds no slot in {job.tier}"
                return self._take_back(action, job, gang, seen, env, reason)
            step.calls.append(Call(server.id, lambda server=server: env.cloud.unshelve(server.id)))
        if step.calls:
            self._admit(job, env)
            return step
        return self._settle(action, job, gang, seen, env)

    @staticmethod
    def _admit(job, env):
        """Enter the job: its servers' requests find the wanted tier there."""
        claims.admit(env.placement, job.uuid, job.size, Tier(job.tier), **OWNER)

    def _settle(self, action, job, gang, seen, env):
        """Over when the whole gang is up, with slots in the tier."""
        if reason := defect(gang, job.size):
            return self._take_back(action, job, gang, seen, env, reason)
        if any(server.busy or server.status not in ("ACTIVE", "SHUTOFF") for server in gang):
            return Step()
        if not seen.in_tier(job, Tier(job.tier)):
            reason = f"Nova placed it outside {job.tier}"
            return self._take_back(action, job, gang, seen, env, reason)
        return done()

    def _take_back(self, action, job, gang, seen, env, reason=""):
        """All or none: delete what was booted, shelve again what was restored; then fail."""
        if reason:
            action.begun = {**action.begun, "undoing": reason}
        reason = action.begun["undoing"]
        keep = job.saved and not defect(gang, job.size)
        leftover = [s for s in gang if not keep or s.busy or s.status != "SHELVED_OFFLOADED"]
        if not leftover and not still_claiming(action, seen):
            claims.release(env.placement, job.uuid)
            job.saved = keep
            return failed(reason)
        remove = env.cloud.shelve if keep else env.cloud.delete
        return Step(
            [
                Call(f"undo {s.id}", lambda s=s: remove(s.id))
                for s in leftover
                if (not s.busy if keep else s.task != "deleting")
            ]
        )

    def close(self, action, jobs, env):
        job = jobs[action.job]
        restored = job.state == JobState.RESTORING
        job.state, job.saved, job.how = JobState.RUNNING, False, action.plan["how"]
        job.failures = 0
        job.restores += restored
        if job.started_at is None:
            job.started_at = env.now
        job.reason = ""
        return [
            Note(job.number, "restored" if restored else "started", f"in {job.tier}, {job.how}")
        ]

    def undo(self, action, jobs, env):
        job = jobs[action.job]
        job.state, job.tier = JobState.QUEUED, None
        job.failures += 1
        job.reason = f"did not start: {action.reason}"
        job.not_before = env.now + min(LONGEST_PAUSE, 2.0**job.failures)
        return [Note(job.number, "not started", action.reason)]
