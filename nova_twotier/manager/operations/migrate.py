"""Migrate: live-migrate the processes of a job that cannot swap in place into the job's tier."""

from functools import partial

from nova_twotier.cloud.servers import Server
from nova_twotier.core.reasons import Reason, changes, failures
from nova_twotier.db.plans import MigratePlan
from nova_twotier.db.states import JobState
from nova_twotier.manager.operations.context import Context
from nova_twotier.manager.operations.gang import (
    FORCE,
    MIGRATE,
    leave_to_end,
    remove,
    request,
    reset,
)
from nova_twotier.manager.operations.operation import (
    CloudRequest,
    Note,
    Operation,
    Step,
    done,
    failed,
)

#: Seconds in which Nova frees the slot that a server has left; others may be left behind for good.
FREEING = 10.0


class Migrate(Operation):
    """The swap of the same pass has set the job's new tier, so Nova claims slots of that tier.

    It is over when the slots that the servers have left are free, since what was decided together
    with it may need them.
    """

    def advance(self, context: Context) -> Step:
        if context.progress.escalated_at is not None:
            return self._begin_anew(context)
        if reason := context.defect():
            return failed(context, reason, context.fault())
        job, targets = context.job, context.plan(MigratePlan).targets
        step = Step()
        arrived = True
        for server in context.gang:
            target = targets.get(server.index)
            if target is None or self._is_there(server, context):
                continue
            arrived = False
            if server.busy:
                step.requests += self._force(context, server)
                continue
            if server.status != "ACTIVE":
                reason = failures.CANNOT_MIGRATE(server=server.id, status=server.status)
                return self._give_up(context, reason)
            if context.exhausted(MIGRATE, server.id):
                reason = failures.NOT_MIGRATED(server=server.id, tier=job.tier)
                return self._give_up(context, reason)
            # First the host of the plan, then any host that Nova finds in the tier.
            host = None if context.tried(MIGRATE, server.id) else target
            run = partial(context.env.cloud.live_migrate, server, host)
            step.requests.append(request(MIGRATE, server, run))
        if arrived:
            return done() if self._has_freed(context) else Step()
        return self._late(context, step)

    def _late(self, context: Context, step: Step) -> Step:
        """The next step of migrations that are under way: another one if they take too long."""
        if context.hangs():
            step.requests += reset(context, {"migrating"})
        return self._begin_anew(context) if context.escalated() else step

    def _give_up(self, context: Context, reason: Reason) -> Step:
        return failed(context, reason)

    @staticmethod
    def _force(context: Context, server: Server) -> list[CloudRequest]:
        """The request to force a migration to complete, once: it pauses the guest."""
        half = max(context.begun_at, context.env.polling_since) + context.patience / 2
        moving = server.task == "migrating" and context.env.now >= half
        if not moving or context.tried(FORCE, server.id):
            return []
        run = partial(context.env.cloud.force_migration, server)
        return [request(FORCE, server, run)]

    @staticmethod
    def _begin_anew(context: Context) -> Step:
        context.job.state = JobState.PREEMPTING
        step = remove(context)
        if step is None:
            context.release()
            return done()
        if context.escalation_overdue():
            return leave_to_end(context, _why_anew(context))
        return step

    def _is_there(self, server: Server, context: Context) -> bool:
        claim = context.seen.claims.get(server.id)
        return (
            not server.busy
            and claim is not None
            and claim.tier is context.tier
            and claim.host == server.host
        )

    @staticmethod
    def _has_freed(context: Context) -> bool:
        """Whether the slots that the servers have left are free, or have not become so in time.

        Nova lists a server on its new host a moment before it frees the old slot. Until then the
        migration holds that, a consumer that is no server.
        """
        origins = {*context.plan(MigratePlan).origins.values()}
        servers = {server.id for gang in context.seen.servers.values() for server in gang}
        if not any(
            claim.host in origins and context.env.cloud.unmanaged(claim.vm) is None
            for vm, claim in context.seen.claims.items()
            if vm not in servers
        ):
            return True
        if context.progress.vacated_at is None:
            context.record(vacated_at=context.env.now)
        return context.env.now >= (context.progress.vacated_at or 0.0) + FREEING

    def close(self, context: Context) -> list[Note]:
        job = context.job
        if context.progress.escalated_at is not None:
            job.state, job.tier = JobState.QUEUED, None
            job.evictions += 1
            job.begin_anew(context.env.now)
            job.reason = _why_anew(context)
            return [Note(job.number, "killed", job.reason)]
        job.migrations += 1
        job.reset_backoff()
        moved = len(context.plan(MigratePlan).targets)
        by = self._preemptor(context)
        return [Note(job.number, "migrated", changes.moved(moved, job.size, context.tier, by))]

    def _preemptor(self, context: Context) -> int | None:
        """Number of the job for which it migrates, if that is another one."""
        return None

    def undo(self, context: Context) -> list[Note]:
        # A later pass sees a gang across both tiers and repairs it.
        context.job.state = JobState.RUNNING
        context.job.back_off(context.env.now)
        return [Note(context.job.number, "not migrated", context.failure)]


def _why_anew(context: Context) -> Reason:
    """Why the job begins anew, if its servers could not be moved in time."""
    return changes.MOVE_TIMEOUT(seconds=context.patience)
