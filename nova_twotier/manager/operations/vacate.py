"""Vacate: live-migrate processes off a host that is drained; their job keeps its tier."""

from dataclasses import replace

from nova_twotier.cloud.servers import Server
from nova_twotier.core.reasons import Reason, changes, failures
from nova_twotier.db.plans import VacatePlan
from nova_twotier.manager.operations.context import Context
from nova_twotier.manager.operations.gang import reset
from nova_twotier.manager.operations.migrate import Migrate
from nova_twotier.manager.operations.operation import Note, Step, failed


class Vacate(Migrate):
    """A migration that nobody waits for: a job that cannot be migrated stays where it is, and its
    end overtakes it."""

    def advance(self, context: Context) -> Step:
        if reason := _why_it_ends(context):
            return self._give_up(context, reason)
        return super().advance(context)

    def _late(self, context: Context, step: Step) -> Step:
        if context.hangs():
            step.requests += reset(context, {"migrating"})
        if context.overdue():
            return self._give_up(context, context.overdue_reason())
        return step

    def _give_up(self, context: Context, reason: Reason) -> Step:
        return replace(failed(context, reason), alone=True)

    def close(self, context: Context) -> list[Note]:
        job = context.job
        job.migrations += 1
        job.reset_backoff()
        moved = len(context.plan(VacatePlan).targets)
        reason = changes.VACATED(moved=moved, size=job.size, tier=context.tier)
        return [Note(job.number, "migrated", reason)]

    def undo(self, context: Context) -> list[Note]:
        notes = super().undo(context)
        return [] if _why_it_ends(context) else notes

    def _is_there(self, server: Server, context: Context) -> bool:
        origin = context.plan(VacatePlan).origins.get(server.index)
        return server.host != origin and super()._is_there(server, context)


def _why_it_ends(context: Context) -> Reason | None:
    """Why the job ends now, wherever its servers are; None if it goes on."""
    job = context.job
    if asked := job.requested_action:
        return failures.REQUESTED(action=asked)
    if job.walltime is not None and job.ran(context.env.now) >= job.walltime:
        return failures.WALLTIME(walltime=job.walltime)
    return None
