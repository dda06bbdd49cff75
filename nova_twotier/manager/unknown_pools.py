"""Fails jobs of pools that do not exist: no manager would ever run them."""

from collections.abc import Set

from oslo_log import log as logging
from sqlalchemy import select

from nova_twotier.core.reasons import failures
from nova_twotier.db import arrays
from nova_twotier.db.models import Job, Leader
from nova_twotier.db.states import JobState
from nova_twotier.db.store import Store

LOG = logging.getLogger(__name__)


def fail(store: Store, pools: Set[str], now: float) -> list[Job]:
    """Fail the queued jobs of pools that no aggregate names and that no manager ever led.

    Several managers may call this at once: each job fails once.

    :param pools: the pools that the aggregates name.
    :return: jobs that failed, whose trusts still exist; one of each array.
    """
    with store.reading() as session:
        known = pools | set(session.scalars(select(Leader.pool)))
        found = list(session.scalars(_strays(Job.number, known)))
    if not found:
        return []
    with store.transaction() as session:
        failed = list(session.scalars(_strays(Job, known).with_for_update()))
        for job in failed:
            job.state, job.finished_at = JobState.FAILED, now
            job.reason = failures.NO_POOL(pool=job.pool, pools=", ".join(sorted(known)))
            LOG.info("Job %s failed: %s", job.label, job.reason)
            session.add(job.happening(now, "failed", job.reason))
        arrays.close(session, {job.array for job in failed if job.array is not None}, now)
    # One for each trust: all tasks of an array have the same.
    return list({job.trust_id or job.number: job for job in failed}.values())


def _strays(what, known: Set[str]):
    return select(what).where(Job.state == JobState.QUEUED, Job.pool.not_in(sorted(known)))
