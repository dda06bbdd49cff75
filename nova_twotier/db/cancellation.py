"""Records the requests to cancel many jobs."""

import time
from collections.abc import Sequence

from sqlalchemy import insert, select, update

from nova_twotier.db.models import Event, Job
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
    query = select(Job.number, Job.requested_action)
    query = query.where(Job.number.in_(numbers), Job.state.not_in(OVER))
    with store.transaction() as session:
        # Locked in the order of their numbers, so that two requests do not wait for each other.
        found = session.execute(query.order_by(Job.number).with_for_update()).all()
        new = [number for number, action in found if action != "cancel"]
        if new:
            session.execute(
                update(Job).where(Job.number.in_(new)).values(requested_action="cancel"),
                execution_options={"synchronize_session": False},
            )
            now = time.time()
            events = [{"at": now, "job": number, "kind": "asked to cancel"} for number in new]
            session.execute(insert(Event), events)
    return {number for number, _action in found}
