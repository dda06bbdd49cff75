"""Requests to Nova that are under way, and what became of them. Nobody waits for them.

This is kept in memory only: after a crash, what Nova did shows which of them it took.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future

from oslo_log import log as logging

from nova_twotier.cloud.errors import CloudError
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.store import DATABASE_ERRORS
from nova_twotier.db.terms import Deposed
from nova_twotier.manager.operations.operation import CloudRequest, Outcome

LOG = logging.getLogger(__name__)

#: Seconds until requests that Nova could not take are made again; each time twice as many, up to
#: the longest pause.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
#: After so many failures in a row, a request that may succeed later counts as refused.
MOST_FAILURES = 8


class Requests:
    """Of each action, those that were made together: the next ones follow when all are answered.

    :param executor: whose threads make them.
    :param permit: called there before each; a request is not made if it raises `Deposed`.
    :param wake: called there when one was answered.
    """

    def __init__(self, executor: Executor, permit: Callable[[], None], wake: Callable[[], None]):
        self._executor = executor
        self._permit = permit
        self._wake = wake
        self._under_way: dict[int, dict[RequestKey, Future]] = {}
        self._failures: dict[int, int] = {}
        self._not_before: dict[int, float] = {}

    def make(self, action: int, requests: Iterable[CloudRequest]) -> None:
        """Make the requests of an action that has none under way."""
        futures = self._under_way[action] = {}
        for request in requests:
            futures[request.key] = self.tell(request)

    def tell(self, request: CloudRequest) -> Future:
        """Make a request of which nobody wants to know what becomes of it."""
        future = self._executor.submit(self._run, request)
        future.add_done_callback(lambda _future: self._wake())
        return future

    def waiting(self, action: int, now: float) -> bool:
        """Whether the action is not to go on yet: for answers, or until they may be others."""
        return action in self._under_way or now < self._not_before.get(action, now)

    def collect(self, now: float) -> dict[int, list[Outcome]]:
        """The answers of those actions that have them all; each is given once."""
        over = [
            action
            for action, futures in self._under_way.items()
            if all(future.done() for future in futures.values())
        ]
        return {action: self._answers(action, now) for action in over}

    def _answers(self, action: int, now: float) -> list[Outcome]:
        errors = {key: future.result() for key, future in self._under_way.pop(action).items()}
        if not any(errors.values()):
            self._failures.pop(action, None)
            self._not_before.pop(action, None)
        else:
            failures = self._failures[action] = self._failures.get(action, 0) + 1
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1))
            self._not_before[action] = now + pause
        given_up = self._failures.get(action, 0) >= MOST_FAILURES
        return [
            Outcome(key, error, final=error is None or given_up or not error.passing)
            for key, error in errors.items()
        ]

    def forget(self, action: int) -> None:
        """The action is over."""
        self._failures.pop(action, None)
        self._not_before.pop(action, None)

    def close(self) -> None:
        """Wait for the requests under way; those that are not will not be made."""
        self._executor.shutdown(cancel_futures=True)

    def _run(self, request: CloudRequest) -> CloudError | None:
        try:
            self._permit()
            request.run()
        except CloudError as error:
            LOG.warning("Request %s: %s", request.key, error)
            return error
        except (Deposed, *DATABASE_ERRORS) as error:
            LOG.warning("Request %s was not made: %s", request.key, error)
            return CloudError(str(error))
        return None
