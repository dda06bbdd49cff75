"""Preempt a job: shelve or suspend all its servers, or delete them and let it begin anew."""

from datetime import UTC, datetime
from functools import partial

from nova_twotier.core.reasons import Effect, Reason, changes, failures
from nova_twotier.db.plans import EvictPlan
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import JobState, Preemption
from nova_twotier.manager.operations import bandwidth
from nova_twotier.manager.operations.context import Context
from nova_twotier.manager.operations.gang import (
    FORGET,
    NOTICE,
    PREEMPTED,
    REPORT,
    SAVE,
    SAVING,
    UNDO,
    all_saved,
    forget,
    is_saved,
    leave_to_end,
    notify,
    paced,
    remove,
    reset,
    resume,
    save,
    start,
    stopped,
)
from nova_twotier.manager.operations.operation import (
    CloudRequest,
    Note,
    Operation,
    Outcome,
    Step,
    done,
    failed,
)

#: After so many failed attempts in a row to save the rest of a job that was saved in part, its
#: walltime runs on: it would keep its slots for ever. With back-offs, they take about 20 minutes.
REPAIRS = 10


class Evict(Operation):
    """The plan's mode says what becomes of the job's work."""

    def begin(self, context: Context) -> None:
        context.job.state = JobState.PREEMPTING

    def advance(self, context: Context) -> Step:
        if context.progress.undoing:
            return self._take_back(context)
        if _is_off(context):
            return failed(context, failures.SERVERS_OFF())
        # An eviction that makes room for no job is given up instead, since no job waits for it.
        drawn_out = _saves(context) and _is_drawn_out(context)
        step: Step | None
        if _mode(context) is Preemption.REQUEUE:
            step = remove(context)
        elif reason := context.defect():
            return failed(context, reason, context.fault())
        elif refused := self._refused(context):
            return self._give_up(context, refused)
        else:
            step = self._save(context)
        if step is None:
            if requests := bandwidth.withdraw(context):
                return Step(requests)
            context.release()
            return done()
        if _mode(context) is not Preemption.REQUEUE and context.hangs(_grace(context)):
            step.requests += reset(context, SAVING)
        if drawn_out:
            late = context.escalation_overdue()
        else:
            late = not _saves(context) and context.overdue(grace=_grace(context))
        if late and _mode(context) is Preemption.REQUEUE:
            return leave_to_end(context, _why_anew(context))
        return self._give_up(context, context.overdue_reason()) if late else step

    @staticmethod
    def _refused(context: Context) -> Reason | None:
        """Why it is given up, when the allowed attempts are used up."""
        mode = _mode(context)
        for server in context.gang:
            given_up = context.exhausted(SAVE, server.id)
            if given_up and not server.busy and not is_saved(server, mode):
                status = server.status
                return failures.NOT_SAVED(server=server.id, mode=mode, status=status)
        return None

    def _save(self, context: Context) -> Step | None:
        mode = _mode(context)
        if context.env.now < context.begun_at + _grace(context) and not _acknowledged(context):
            return self._notify(context)
        if mode is Preemption.SHELVE and (requests := forget(context)):
            return Step(requests)
        step = save(context, mode)
        if step.requests or not all_saved(context, mode):
            return paced(context, step)
        if mode is Preemption.SUSPEND:
            context.vacate()
            return None
        return Step() if context.still_claiming() else None

    def _give_up(self, context: Context, reason: Reason) -> Step:
        context.record(undoing=reason)
        return self._take_back(context)

    @staticmethod
    def _take_back(context: Context) -> Step:
        """Resume or start the servers that were suspended or powered off: they still have their
        slots. A gang that is shelved in part is seen at the next poll, and repaired."""
        if _mode(context) is Preemption.SUSPEND and not context.overdue(2):
            requests = resume(context)
            late = context.overdue()
            waits = (each for each in context.gang if not late or each.status == "SUSPENDED")
            if requests or any(server.busy for server in waits):
                return Step(requests)
        if _mode(context) is Preemption.SHELVE and not context.overdue(2):
            off = stopped(context)
            idle = (each for each in off if not each.busy and not context.exhausted(UNDO, each.id))
            requests = [start(context, server, UNDO) for server in idle]
            if requests or any(server.busy for server in off):
                return Step(requests)
        return failed(context, context.failure)

    @staticmethod
    def _notify(context: Context) -> Step:
        """Announce when the guests will be shut down at the latest, and ask whether they are ready.

        Guests of a job that saves its work may answer on their consoles.
        """
        end = datetime.fromtimestamp(context.begun_at + _grace(context), UTC)
        at, job = end.isoformat(timespec="seconds"), context.job
        idle = [server for server in context.gang if not server.busy]
        step = Step(
            [
                notify(context, server, PREEMPTED + at)
                for server in idle
                if not context.tried(NOTICE, server.id)
            ]
        )
        if job.checkpoint and job.report_token:
            report = f"twotier-saved {job.report_token} {at}"
            ask = context.env.cloud.require_report
            step.requests += [
                CloudRequest(RequestKey(REPORT, server.id), partial(ask, server, report), asks=True)
                for server in idle
                if context.tried(NOTICE, server.id) and not context.tried(REPORT, server.id)
            ]
        return step

    def answered(self, context: Context, outcome: Outcome) -> None:
        super().answered(context, outcome)
        if outcome.key.purpose == REPORT and outcome.error is None:
            context.record(acknowledged=(*context.progress.acknowledged, outcome.key.server))

    def close(self, context: Context) -> list[Note]:
        job, reason = context.job, context.plan(EvictPlan).reason
        job.state, job.tier = JobState.QUEUED, None
        job.evictions += 1
        job.reset_backoff()
        if _mode(context) is Preemption.REQUEUE:
            job.begin_anew(context.env.now)
            job.reason = _why_anew(context)
            return [Note(job.number, "killed", job.reason)]
        job.stop(context.begun_at)
        job.saved = True
        job.reason = reason.led_to(Effect.SAVED)
        return [Note(job.number, "evicted", job.reason)]

    def undo(self, context: Context) -> list[Note]:
        # The next poll sees what is broken about the gang, and repairs it.
        job = context.job
        job.state = JobState.RUNNING
        job.back_off(context.env.now)
        if any(server.away for server in context.gang) and job.setbacks <= REPAIRS:
            # It cannot work, and is repaired as soon as it may be: its walltime does not run on.
            job.interrupt(context.begun_at, job.not_before)
        return [Note(job.number, "not evicted", context.failure)]


def _why_anew(context: Context) -> Reason:
    """Why the job begins anew."""
    reason = context.plan(EvictPlan).reason
    if context.progress.escalated_at is None:
        return reason.led_to(Effect.LOST)
    return changes.SAVE_TIMEOUT(reason.by, seconds=context.patience)


def _is_off(context: Context) -> bool:
    """Whether all servers were off before any request to save them: the job has likely ended."""
    gang = context.gang
    told = (NOTICE, FORGET, REPORT)
    asked = any(key.server and key.purpose not in told for key in context.progress.attempts)
    return bool(gang) and not asked and all(server.status == "SHUTOFF" for server in gang)


def _acknowledged(context: Context) -> bool:
    """Whether all guests have reported that they have saved their work, or have ended."""
    at_work = {server.id for server in context.gang if server.status != "SHUTOFF"}
    return at_work <= {*context.progress.acknowledged}


def _grace(context: Context) -> float:
    """Seconds between the notice to the guests and the shelve, unless they are ready earlier."""
    return context.env.preemption_grace if _mode(context) is Preemption.SHELVE else 0.0


def _is_drawn_out(context: Context) -> bool:
    """Whether its servers are to be deleted as saving takes too long; not once all are saved."""
    if context.progress.escalated_at is None and all_saved(context, _mode(context)):
        return False
    return context.escalated(_grace(context))


def _saves(context: Context) -> bool:
    """Whether it is to save the job's state, to make room for others."""
    plan = context.plan(EvictPlan)
    return plan.mode is not Preemption.REQUEUE and not plan.repairs


def _mode(context: Context) -> Preemption:
    escalated = context.progress.escalated_at is not None
    return Preemption.REQUEUE if escalated else context.plan(EvictPlan).mode
