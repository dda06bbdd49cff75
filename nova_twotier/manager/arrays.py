"""Ends the arrays whose last task is over: their trusts are deleted, and that is recorded.

A trust that Keystone does not let the manager delete is left to `trust sweep`.

The trust is deleted first, which does no harm twice: a manager that is killed in between does it
again. Only the database says which arrays are to be ended.
"""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud
from nova_twotier.db import arrays
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import ActionKind, ActionState
from nova_twotier.db.store import Store
from nova_twotier.manager.asked import Asked
from nova_twotier.manager.operations.operation import CloudRequest
from nova_twotier.manager.round import Round

#: Seconds until a trust that could not be deleted is tried again.
RETRY_AFTER = 30.0


class Arrays:
    """
    :param tell: sends a request; its future holds the error, or None.
    """

    def __init__(
        self, store: Store, cloud: Cloud, pool: str, tell: Callable[[CloudRequest], Future]
    ):
        self._store, self._cloud, self._pool, self._tell = store, cloud, pool, tell
        #: What was asked about the trusts of arrays, by number.
        self._asked: dict[int, Asked[CloudError | None]] = {}
        #: Whether an array may have lost its last open task since the last look.
        self._due = True

    def poll(self, work: Round) -> None:
        """Close the arrays whose tasks are over; to be called after ended jobs were written."""
        ended = any(
            action.kind == ActionKind.END and action.state != ActionState.EXPECTED
            for action in work.opened
        )
        # Due until it is done: if the database fails meanwhile, no other end need come.
        self._due |= ended
        if not (self._due or self._asked):
            return
        with self._store.reading() as session:
            found = arrays.without_open_tasks(session, self._pool)
        now = work.env.now
        over = [array.number for array in found if self._released(array, now)]
        if over:
            with self._store.transaction() as session:
                arrays.close(session, over, now)
        left = {array.number for array in found}.difference(over)
        self._asked = {number: asked for number, asked in self._asked.items() if number in left}
        self._due = False

    def _released(self, array: arrays.Array, now: float) -> bool:
        """Whether the array has no trust any more; if it has, that is asked to be deleted."""
        if array.trust_id is None:
            return True
        asked = self._asked.get(array.number)
        if asked and asked.answer.done():
            error = asked.answer.result()
            if error is None or not error.passing:
                return True
        if asked is None or asked.may_repeat(now, RETRY_AFTER):
            run = partial(self._cloud.delete_trust, array)
            answer = self._tell(CloudRequest(RequestKey("trust"), run))
            self._asked[array.number] = Asked(now, answer)
        return False
