"""The walltimes of running jobs: when they stand still, and when a job is warned of its end."""

from datetime import UTC, datetime
from functools import partial

from nova_twotier.cloud.nova import Cloud
from nova_twotier.core.reasons import Reason, changes
from nova_twotier.db.models import Job
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import JobState
from nova_twotier.manager.operations.gang import NOTICE
from nova_twotier.manager.operations.operation import CloudRequest, Note
from nova_twotier.manager.round import Round


def stop(work: Round) -> None:
    """Stop the walltime of jobs whose servers are still down after their back-off.

    Those that have gone on are not: what they have run since then counts, whatever follows.
    """
    seen = work.seen
    for job in work.active:
        if not job.interrupted or job.state != JobState.RUNNING:
            continue
        if any(server.away for server in seen.gang(job)):
            job.stay_interrupted(seen.at)
        elif seen.whole(job):
            job.go_on(seen.at)


def warn(work: Round, cloud: Cloud, before: float) -> None:
    """Warn jobs, and their guests, that their walltime is about to end.

    :param before: seconds before the end of it.
    """
    now = work.env.now
    for job in work.active:
        if reason := warning(job, now, before):
            job.warned_at = now
            work.note(Note(job.number, "warned", reason))
            end = datetime.fromtimestamp(now + (job.walltime or 0.0) - job.ran(now), UTC)
            notice = f"stopped at {end.isoformat(timespec='seconds')}"
            for server in work.seen.gang(job):
                run = partial(cloud.notice, server, notice)
                work.messages.append(CloudRequest(RequestKey(NOTICE, server.id), run))


def warning(job: Job, now: float, before: float) -> Reason | None:
    """The warning to a job whose walltime is nearly over; None if none is due.

    :param before: seconds before the end of it.
    """
    if job.state != JobState.RUNNING or job.walltime is None or job.warned_at is not None:
        return None
    left = job.walltime - job.ran(now)
    if left > before:
        return None
    return changes.WALLTIME_NEAR(left=max(0, round(left)), walltime=job.walltime)
