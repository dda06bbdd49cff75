"""Records the requests to cancel many jobs."""

import time
from collections.abc import Sequence

from sqlalchemy import select, update
from sqlalchemy.orm import load_only

from nova_twotier.db.models import Job
from nova_twotier.db.states import OVER
from nova_twotier.db.store import Store

#: Jobs in one transaction: the manager waits for no more of them, and no statement is too long.
BATCH = 500


def request(store: Store, numbers: Sequence[int]) -> set[int]:
    """Record that jobs are to be cancelled, as `Store.request_action` does for one.

    :returns: the numbers of those that are not over: the manager cancels them.
    """
    accepted: set[int] = set()
    for start in range(0, len(numbers), BATCH):
        accepted |= _request(store, numbers[start : start + BATCH])
    return accepted


def _request(store: Store, numbers: Sequence[int]) -> set[int]:
    query = select(Job).where(Job.number.in_(numbers), Job.state.not_in(OVER))
    query = query.options(load_only(Job.requested_action, Job.webhook, Job.published))
    with store.transaction() as session:
        # Locked in the order of their numbers, so that two requests do not wait for each other.
        found = session.scalars(query.order_by(Job.number).with_for_update()).all()
        new = {job.number: job for job in found if job.requested_action != "cancel"}
        if new:
            session.execute(
                update(Job).where(Job.number.in_(new)).values(requested_action="cancel"),
                execution_options={"synchronize_session": False},
            )
            now = time.time()
            session.add_all(job.happening(now, "asked to cancel") for job in new.values())
    return {job.number for job in found}
