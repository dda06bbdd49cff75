"""Swap: change the tiers of jobs in place, all swaps of a pass in one ledger transaction."""

from collections.abc import Iterable

from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import changes, failures
from nova_twotier.core.slots import is_hot
from nova_twotier.db.plans import SwapPlan, TierChange
from nova_twotier.ledger import claims, names
from nova_twotier.ledger.placement import Conflict, PlacementError, StaleGeneration
from nova_twotier.manager.operations.context import Context
from nova_twotier.manager.operations.operation import Note, Operation, Step, done, failed


def change_tiers(context: Context, changes: Iterable[TierChange]) -> str:
    """Change the tiers of jobs in the ledger, all or none; doing it again changes nothing.

    :returns: why that is not possible, for operators; empty if it is done.
    :raises PlacementError: if it may succeed later.
    """
    env, held = context.env, context.seen.claims
    swaps = [
        claims.Swap(
            change.uuid,
            change.size,
            change.tier,
            change.vms,
            pool=context.jobs[change.number].pool,
            hosts={vm: held[vm].host for vm in change.vms if vm in held},
        )
        for change in changes
    ]
    try:
        claims.swap(env.placement, context.seen.hosts, swaps, **names.JOB_OWNER, each=env.each)
    except PlacementError as error:
        passing = isinstance(error, StaleGeneration) or not isinstance(error, Conflict)
        if passing and not context.overdue():
            raise
        return str(error)
    return ""


class Swap(Operation):
    def advance(self, context: Context) -> Step:
        self._reopen(context)
        conflict = change_tiers(context, context.plan(SwapPlan).changes)
        return failed(context, failures.SLOTS_TAKEN(), conflict) if conflict else done()

    @staticmethod
    def _reopen(context: Context) -> None:
        """Open the slots that hot processes leave, so that demoted processes can take them."""
        jobs, seen, threshold = context.jobs, context.seen, context.env.threshold
        closed = seen.closed(jobs.values(), threshold)
        for change in context.plan(SwapPlan).changes:
            if change.tier is not Tier.BG:
                continue
            job = jobs[change.number]
            profile = job.profile
            for server in seen.gang(job):
                claim = seen.claims.get(server.id)
                if claim and server.id in change.vms and claim.tier is Tier.FG:
                    closed[claim.host] -= is_hot(profile[server.index], threshold)
        context.env.close(closed)

    def close(self, context: Context) -> list[Note]:
        notes = []
        for change in context.plan(SwapPlan).changes:
            job = context.jobs[change.number]
            job.tier = change.tier
            if change.vms:
                job.reset_backoff()
                job.swaps += 1
                job.swapped_at = context.env.now
                reason = changes.moved(len(change.vms), job.size, change.tier, change.by)
                notes.append(Note(job.number, "swapped", reason))
        return notes

    def undo(self, context: Context) -> list[Note]:
        notes = []
        for change in context.plan(SwapPlan).changes:
            context.jobs[change.number].back_off(context.env.now)
            notes.append(Note(change.number, "not swapped", context.failure))
        return notes
