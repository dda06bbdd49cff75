"""Relocate: preempt a job by live migration into the background, so that it keeps its memory."""

from oslo_log import log as logging

from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import Reason, changes, failures
from nova_twotier.db.plans import EvictPlan, RelocatePlan, TierChange
from nova_twotier.db.progress import Progress
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.manager.operations.context import Context, in_full
from nova_twotier.manager.operations.migrate import Migrate
from nova_twotier.manager.operations.operation import Note, Step
from nova_twotier.manager.operations.swap import change_tiers

LOG = logging.getLogger(__name__)


class Relocate(Migrate):
    """A migration that needs no other action first: the slots that it takes were idle.

    If a server cannot be migrated, the action becomes an eviction, which saves the job.
    """

    def advance(self, context: Context) -> Step:
        plan, job = context.plan(RelocatePlan), context.job
        if context.tier is Tier.FG:
            # From now on, Nova claims slots of the background for its servers.
            change = TierChange(job.number, job.uuid, job.size, Tier.BG, plan.vms)
            if conflict := change_tiers(context, [change]):
                return self._give_up(context, failures.SLOTS_TAKEN(), conflict)
            job.tier = Tier.BG
        return super().advance(context)

    def _give_up(self, context: Context, reason: Reason, detail: str = "") -> Step:
        action, plan = context.action, context.plan(RelocatePlan)
        text = in_full(reason, detail)
        LOG.warning("Job %s is saved instead of migrated: %s", context.job.label, text)
        evict = EvictPlan(changes.PREEMPTED(plan.by), plan.mode, unmoved=True)
        action.kind, action.plan, action.progress = ActionKind.EVICT, evict, Progress()
        # It has begun: it is not dropped if something else fails or the queue is paused.
        action.begun_at, context.job.state = context.env.now, JobState.PREEMPTING
        return Step()

    def close(self, context: Context) -> list[Note]:
        context.job.swapped_at = context.env.now
        return super().close(context)

    def _is_there(self, server: Server, context: Context) -> bool:
        origin = context.plan(RelocatePlan).origins.get(server.index)
        return server.host != origin and super()._is_there(server, context)

    def _preemptor(self, context: Context) -> int | None:
        return context.plan(RelocatePlan).by
