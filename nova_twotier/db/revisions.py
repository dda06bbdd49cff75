"""The revision of the database: one short query tells whether anything readers see has changed.

Whoever changes something records an event (`Event`), or is a leader, whose transactions count up
its `revision`, or a purge, which counts up those of all leaders when it is done.
"""

import time
from typing import Any, NamedTuple

from sqlalchemy import func, select, true, update
from sqlalchemy.orm import Session

from nova_twotier.db import heartbeats
from nova_twotier.db.models import Event, Leader, PoolPrediction, Submission
from nova_twotier.db.submissions import under_way

#: The last events, of which an earlier one may be committed after a later one. Their ids are
#: added up: each new one makes the sum greater, whenever it comes.
LAST = 200


class Revision(NamedTuple):
    """A fingerprint of the database: it differs if what readers are shown may have changed.

    :ivar common: events and submissions.
    :ivar pools: of each pool, what its leader wrote, and what became true with time alone.
    """

    common: tuple[Any, ...]
    pools: tuple[tuple[Any, ...], ...]


def read(session: Session, lease: float) -> Revision:
    """The present state.

    :param lease: `[coordination]lease`.
    """
    now = time.time()
    last = select(Event.id).order_by(Event.id.desc()).limit(LAST).subquery()
    events = select(func.sum(last.c.id)).scalar_subquery()
    submitted = (
        select(what).where(*under_way()).scalar_subquery()
        for what in (func.count(Submission.uuid), func.sum(Submission.size))
    )
    common = select(events.label("events"), *submitted).subquery()
    query = select(
        *common.c,
        *(Leader.pool, Leader.term, Leader.revision, PoolPrediction.valid_until),
        *heartbeats.COLUMNS,
    )
    query = query.select_from(common).outerjoin(Leader, true())
    query = query.outerjoin(PoolPrediction, PoolPrediction.pool == Leader.pool)
    rows = session.execute(query.order_by(Leader.pool)).all()
    pools = []
    for row in rows:
        *_common, pool, term, revision, valid_until, at, polled_at, since = row
        # The text, without which others than the manager's life would change all answers.
        manager = heartbeats.heartbeat(at, polled_at, since, lease, now).text()
        outdated = valid_until is not None and now > valid_until
        pools.append((pool, term, revision, manager, outdated))
    return Revision(tuple(rows[0][:3]), tuple(pools))


def changed(session: Session) -> None:
    """Change the revision for something that no event records."""
    session.execute(update(Leader).values(revision=Leader.revision + 1))
