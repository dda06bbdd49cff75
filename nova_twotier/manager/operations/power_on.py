"""Start servers of a running job again that are off, although their guests had not ended."""

from functools import partial

from nova_twotier.db.plans import PowerOnPlan
from nova_twotier.manager.operations.context import Context
from nova_twotier.manager.operations.gang import request
from nova_twotier.manager.operations.operation import Note, Operation, Outcome, Step, done, failed

START = "start"


class PowerOn(Operation):
    """All servers of the gang that are off are started, once each: its processes run together.

    A guest that had ended before powers itself off once more. Whether one is off again for that
    reason, or because it did not come up, is found out as ever (see `manager.shutdowns`).
    """

    def begin(self, context: Context) -> None:
        # No policy preempts it meanwhile.
        context.job.not_before = context.env.now + context.env.operation_timeout

    def answered(self, context: Context, outcome: Outcome) -> None:
        super().answered(context, outcome)
        if outcome.error is not None and outcome.final:
            context.record(undoing=str(outcome.error))

    def advance(self, context: Context) -> Step:
        if refusal := context.progress.undoing:
            return failed(context, refusal, "Nova does not start its servers again")
        if reason := context.defect():
            return failed(context, context.with_fault(reason), reason)
        if action := context.job.requested_action:
            return failed(context, f"its owner asked to {action} it")
        requests = [
            request(START, server, partial(context.env.cloud.start, server))
            for server in context.gang
            if server.status == "SHUTOFF"
            and not server.busy
            and not context.tried(START, server.id)
        ]
        if not requests and not any(server.busy for server in context.gang):
            return done()
        if context.overdue():
            return failed(context, context.overdue_reason())
        return Step(requests)

    def close(self, context: Context) -> list[Note]:
        job, plan = context.job, context.plan(PowerOnPlan)
        job.reset_backoff()
        job.not_before = context.env.now
        job.reason = f"its servers were started again: {plan.reason}"
        return [Note(job.number, "started again", plan.reason)]

    def undo(self, context: Context) -> list[Note]:
        job = context.job
        job.failures += 1
        job.back_off(context.env.now)
        return [Note(job.number, "not started again", context.public_reason)]
