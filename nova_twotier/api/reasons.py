"""Why a job waits or ended, and what its owner can do about it."""

from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import LEGACY, Effect, Reason, failures, waits
from nova_twotier.db.heartbeats import Heartbeat
from nova_twotier.db.models import Job
from nova_twotier.db.states import OVER, JobState

#: Reasons for which a start fails but may succeed later; their own cures address jobs that still
#: wait.
_PASSING = {
    LEGACY,
    failures.BANDWIDTH_TAKEN,
    failures.HOST_DOWN,
    failures.INCOMPLETE,
    failures.LESS_BANDWIDTH,
    failures.NOT_RESTORED,
    failures.OVERDUE,
    failures.SERVER_ERROR,
    failures.SLOTS_NOT_FREED,
    failures.SLOTS_TAKEN,
    failures.WRONG_TIER,
}
_TIERS = {Tier.FG: "the foreground", Tier.BG: "the background"}


def reason_of(job: Job) -> Reason | None:
    """Why a job waits or ended; None if it needs no reason, because it runs or has finished."""
    if job.state == JobState.QUEUED:
        # It may have been preempted or refused before; its events say so.
        return waits.HELD() if job.held else job.reason or waits.UNDECIDED()
    return job.reason


def cure_of(job: Job, why: Reason | None, manager: Heartbeat) -> str | None:
    """What its owner can do about the reason of a job.

    :param manager: its pool's.
    """
    if manager.missing and job.state not in OVER:
        return "Tell the operator that no queue manager is at work. A job that runs continues."
    passing = why and why.effect is Effect.NOT_STARTED and why.code in _PASSING
    if passing and job.state in OVER:
        return "It was tried as often as is allowed: submit it anew, or tell the operator."
    return why.code.cure if why else None


def situation(job: Job, text: str, manager: Heartbeat, keeps_servers: bool = False) -> str:
    """A job's state and its reason, in words.

    :param text: of its reason, for the reader.
    :param manager: its pool's.
    :param keeps_servers: whether its servers are kept when it ends.
    """
    match job.state:
        case JobState.QUEUED:
            why = reason_of(job)
            told = job.saved and (why is None or why.effect is not Effect.SAVED)
            words = f"{text}; its state is saved" if told else text
        case JobState.STARTING | JobState.RESTORING:
            words = "its servers are being built"
        case JobState.RUNNING:
            words = f"runs in {_TIERS[Tier(job.tier)]}" if job.tier else "runs"
        case JobState.PREEMPTING:
            words = "is being preempted"
        case JobState.ENDING:
            what = "shelved, to be kept" if keeps_servers else "deleted"
            words = f"is ending, its servers are being {what}"
        case JobState.FAILED if (start := text.removeprefix("did not start: ")) != text:
            words = f"failed to start: {start}"
        case _:
            words = f"is {job.state}" + (f": {text}" if text else "")
    if job.requested_action and not job.finished_at:
        words += f"; a user asked to {job.requested_action} it"
    if manager.missing and job.state not in OVER:
        words += f"; {manager.text()}"
    return words
