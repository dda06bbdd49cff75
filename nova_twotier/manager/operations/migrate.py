"""Move the processes of a job that cannot swap in place: live migration into the job's tier."""

from nova_twotier.core.actions import Tier
from nova_twotier.manager.operations.operation import (
    Call,
    Note,
    Operation,
    Step,
    defect,
    done,
    failed,
    overdue,
    told,
    too_long,
    tried,
    with_fault,
)


class Migrate(Operation):
    """The swap of the same pass has given the job its new tier: Nova claims a slot of that tier."""

    def advance(self, action, jobs, seen, env):
        job = jobs[action.job]
        gang = seen.gang(job)
        if reason := defect(job, seen):
            return failed(action, with_fault(reason, gang), reason)
        step = Step()
        arrived = True
        for server in gang:
            target = action.plan["targets"].get(str(server.index))
            if target is None or self._is_there(server, job, seen):
                continue
            arrived = False
            if server.busy:
                continue
            if server.status != "ACTIVE":
                return failed(action, f"server {server.id} cannot migrate, it is {server.status}")
            if tried(action, server.id) >= env.attempts:
                return failed(action, f"server {server.id} does not migrate into {job.tier}")
            # The place that the plan named first; then wherever Nova finds one in the tier.
            host = None if tried(action, server.id) else target
            step.calls.append(
                Call(
                    server.id,
                    lambda server=server, host=host: env.cloud.live_migrate(server, host),
                )
            )
        if arrived:
            return done()
        return failed(action, too_long(gang, env)) if overdue(action, env) else step

    @staticmethod
    def _is_there(server, job, seen):
        claim = seen.claims.get(server.id)
        return (
            not server.busy
            and claim is not None
            and claim.tier is Tier(job.tier)
            and claim.host == server.host
        )

    def close(self, action, jobs, env):
        job = jobs[action.job]
        job.migrations += 1
        job.reset_backoff()
        detail = f"{len(action.plan['targets'])} of {job.size} processes into {job.tier}"
        return [Note(job.number, "migrated", detail)]

    def undo(self, action, jobs, env):
        # A gang across both tiers is seen, and mended, when that is over.
        jobs[action.job].back_off(env.now)
        return [Note(action.job, "not migrated", told(action))]
