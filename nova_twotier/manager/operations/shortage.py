"""Used-up quotas: the project's jobs back off together, and one of them tries again first."""

from collections.abc import Iterable

from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState

#: Seconds by which the refused job may try again before the others.
HEAD_START = 5.0


def back_off_alike(refused: Job, jobs: Iterable[Job]) -> None:
    """Back off jobs that would be refused, too: same project and flavor, and not smaller."""
    until = refused.not_before + HEAD_START
    for job in jobs:
        # Ten thousand may be behind the limit of an array: they are not even in the queue.
        waits = job.state == JobState.QUEUED and not job.behind_array_limit and job is not refused
        if waits and job.not_before < until and _needs_more(job, refused):
            job.not_before = until
            if job.in_queue:
                job.reason = refused.reason


def _needs_more(job: Job, refused: Job) -> bool:
    """Whether a job needs at least as much quota as the refused one.

    The quota may still count saved servers, which then need nothing more.
    """
    alike = _account(job) == _account(refused) and job.flavor == refused.flavor
    return alike and job.size >= refused.size and job.saved <= refused.saved


def _account(job: Job) -> str | None:
    """The project whose quota the job's servers use; None for the manager's own."""
    return job.project_id if job.trust_id else None
