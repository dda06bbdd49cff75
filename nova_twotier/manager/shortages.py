"""Used-up quotas: the project's jobs back off together, and one of them tries again first.

Only the job that was refused says so in the database, so that ten thousand others are not written
at each refusal; a new manager finds there what the last one knew.
"""

from collections.abc import Iterable
from typing import NamedTuple

from nova_twotier.core.reasons import Reason, waits
from nova_twotier.db.models import Job
from nova_twotier.db.states import OVER

#: Seconds by which the refused job may try again before the others.
HEAD_START = 5.0
#: Jobs that are told at one poll why they wait: writing ten thousand would hold up the others.
AT_ONCE = 300


class _Needs(NamedTuple):
    """What a job needs of a quota besides its flavor. The quota may still count saved servers,
    which then need nothing more."""

    size: int
    saved: bool

    def covers(self, other: "_Needs") -> bool:
        """Whether it is at least as much as another job needs."""
        return self.size >= other.size and self.saved <= other.saved


class _Refused(NamedTuple):
    """The job that tries again first, and until when the others do not."""

    until: float
    number: int
    reason: Reason


class Shortages:
    """Which jobs would be refused, too: same project and flavor, and not smaller."""

    def __init__(self) -> None:
        #: By account and flavor, and by what the refused job needs.
        self._refused: dict[tuple, dict[_Needs, _Refused]] = {}

    def follow(self, jobs: Iterable[Job], now: float) -> None:
        """Note the refusals of quota, and forget those that are past, and those of jobs that have
        started or are over.

        :param jobs: all that were refused, at least.
        """
        setback = [job for job in jobs if job.setbacks and job.state not in OVER]
        there = {job.number for job in setback}
        for job in setback:
            if not (job.reason and job.reason.code in waits.OF_QUOTA):
                continue
            refused = _Refused(job.not_before + HEAD_START, job.number, job.reason)
            known = self._refused.setdefault(_account(job), {})
            # Of several that need the same, the others wait for the one that backs off longest.
            last = known.get(_needs(job), refused)
            known[_needs(job)] = max(last, refused, key=lambda each: each[:2])
        for account, known in list(self._refused.items()):
            left = {
                n: each for n, each in known.items() if each.until > now and each.number in there
            }
            if left:
                self._refused[account] = left
            else:
                del self._refused[account]

    def waiting(self, jobs: Iterable[Job], now: float) -> dict[int, float]:
        """Until when jobs in the queue back off because of others, by number; some of them are
        told why.
        """
        if not self._refused:
            return {}
        found, left = {}, AT_ONCE
        for job in jobs:
            refused = self.of(job, now)
            if refused is None or not job.in_queue:
                continue
            found[job.number] = refused.until
            if left and job.reason != refused.reason:
                job.reason = refused.reason
                left -= 1
        return found

    def of(self, job: Job, now: float) -> _Refused | None:
        """The refusal because of which a job backs off last; None if there is none."""
        known = self._refused.get(_account(job))
        if not known:
            return None
        needs = _needs(job)
        refusals = (
            refused
            for other, refused in known.items()
            if refused.number != job.number and refused.until > now and needs.covers(other)
        )
        return max(refusals, key=lambda each: each.until, default=None)


def _needs(job: Job) -> _Needs:
    return _Needs(job.size, job.saved)


def _account(job: Job) -> tuple[str | None, str | None]:
    """The project whose quota the job's servers use, None for the manager's own; and its flavor."""
    return (job.project_id if job.trust_id else None), job.flavor
