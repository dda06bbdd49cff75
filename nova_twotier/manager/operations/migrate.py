"""Move the processes of a job that cannot swap in place: live migration into the job's tier."""

from functools import partial

from nova_twotier.cloud.servers import Server
from nova_twotier.db.plans import MigratePlan
from nova_twotier.manager.operations.context import Context
from nova_twotier.manager.operations.gang import MIGRATE, request
from nova_twotier.manager.operations.operation import Note, Operation, Step, done, failed


class Migrate(Operation):
    """The swap of the same pass has given the job its new tier: Nova claims a slot of that tier."""

    def advance(self, context: Context) -> Step:
        if reason := context.defect():
            return failed(context, context.with_fault(reason), reason)
        job, targets = context.job, context.plan(MigratePlan).targets
        step = Step()
        arrived = True
        for server in context.gang:
            target = targets.get(server.index)
            if target is None or self._is_there(server, context):
                continue
            arrived = False
            if server.busy:
                continue
            if server.status != "ACTIVE":
                reason = f"server {server.id} cannot migrate, it is {server.status}"
                return failed(context, reason)
            if context.exhausted(MIGRATE, server.id):
                return failed(context, f"server {server.id} does not migrate into {job.tier}")
            # The place that the plan named first; then wherever Nova finds one in the tier.
            host = None if context.tried(MIGRATE, server.id) else target
            run = partial(context.env.cloud.live_migrate, server, host)
            step.requests.append(request(MIGRATE, server, run))
        if arrived:
            return done()
        return failed(context, context.overdue_reason()) if context.overdue() else step

    @staticmethod
    def _is_there(server: Server, context: Context) -> bool:
        claim = context.seen.claims.get(server.id)
        return (
            not server.busy
            and claim is not None
            and claim.tier is context.tier
            and claim.host == server.host
        )

    def close(self, context: Context) -> list[Note]:
        job = context.job
        job.migrations += 1
        job.reset_backoff()
        moved = len(context.plan(MigratePlan).targets)
        return [Note(job.number, "migrated", f"{moved} of {job.size} processes into {job.tier}")]

    def undo(self, context: Context) -> list[Note]:
        # A gang across both tiers is seen, and repaired, when that is over.
        context.job.back_off(context.env.now)
        return [Note(context.job.number, "not migrated", context.public_reason)]
