"""Restart servers of a running job that are off although their guests had not ended."""

from functools import partial

from nova_twotier.cloud.servers import RUNNING, Server
from nova_twotier.core.reasons import Effect, failures
from nova_twotier.db.plans import PowerOnPlan
from nova_twotier.db.progress import Refusal
from nova_twotier.manager.operations.context import Context
from nova_twotier.manager.operations.gang import RESET, request, reset, start
from nova_twotier.manager.operations.operation import (
    CloudRequest,
    Note,
    Operation,
    Outcome,
    Step,
    done,
    failed,
)

START, STOP = "start", "stop"
#: The task of a server that is being started.
STARTING = "powering-on"


class PowerOn(Operation):
    """All servers of the gang that are off are started, once each: its processes run together.

    A guest that had ended before powers itself off once more. `manager.shutdowns` finds out whether
    one is off again for that reason, or because it did not come up.
    """

    def answered(self, context: Context, outcome: Outcome) -> None:
        super().answered(context, outcome)
        # Nova itself may have noticed meanwhile that a guest is off.
        starts = outcome.key.purpose == START
        if starts and outcome.error is not None and outcome.final:
            context.record(refusal=Refusal(failures.POWER_ON_REFUSED(), str(outcome.error)))

    def advance(self, context: Context) -> Step:
        if refusal := context.progress.refusal:
            return failed(context, refusal.reason, refusal.detail)
        if reason := context.defect():
            return failed(context, reason, context.fault())
        if action := context.job.requested_action:
            return failed(context, failures.REQUESTED(action=action))
        requests = [each for server in context.gang for each in _power_on(context, server)]
        if not requests and not any(server.busy for server in context.gang):
            return done()
        hanging = reset(context, {STARTING}) if context.overdue() else []
        asked = hanging or any(key.purpose == RESET for key in context.progress.attempts)
        if context.overdue(2 if asked else 1):
            return failed(context, context.overdue_reason())
        return Step(requests + hanging)

    def close(self, context: Context) -> list[Note]:
        job, plan = context.job, context.plan(PowerOnPlan)
        job.reset_backoff()
        job.reason = plan.reason.led_to(Effect.POWERED_ON)
        return [Note(job.number, "started again", plan.reason)]

    def undo(self, context: Context) -> list[Note]:
        job = context.job
        job.failures += 1
        job.back_off(context.env.now)
        return [Note(job.number, "not started again", context.failure)]


def _power_on(context: Context, server: Server) -> list[CloudRequest]:
    """The next request to power a server on, if Nova is not busy with it; once more if it was reset
    because the first was lost."""
    if server.busy:
        return []
    resets = context.tried(RESET, server.id)
    if server.status == "SHUTOFF" and context.tried(START, server.id) <= resets:
        return [start(context, server, START)]
    # It only counts as running, and Nova starts nothing that does.
    posing = resets and server.status == "ACTIVE" and server.power_state != RUNNING
    if posing and not context.tried(STOP, server.id):
        return [request(STOP, server, partial(context.env.cloud.stop, server))]
    return []
