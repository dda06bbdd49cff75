"""Quotas that a project has used up: its jobs wait together, and one of them tries again."""

from collections.abc import Iterable

from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState

#: Seconds that the one that was refused may try before the others.
HEAD_START = 5.0


def back_off_alike(refused: Job, jobs: Iterable[Job]) -> None:
    """Make the jobs wait that would be refused, too: of the same project and flavor, no smaller."""
    until = refused.not_before + HEAD_START
    for job in jobs:
        waits = job.state == JobState.QUEUED and job is not refused
        if waits and job.not_before < until and _needs_more(job, refused):
            job.not_before = until
            if not job.held:
                job.reason = refused.reason


def _needs_more(job: Job, refused: Job) -> bool:
    """What was saved may be counted still, and need nothing that is short."""
    alike = _account(job) == _account(refused) and job.flavor == refused.flavor
    return alike and job.size >= refused.size and job.saved <= refused.saved


def _account(job: Job) -> str | None:
    """The project whose quota its servers use; None: the manager's own."""
    return job.project_id if job.trust_id else None
