"""Sends requests to the cloud from threads, so that the loop never waits, and keeps the outcomes.

They are kept in memory only: after a crash, the state of the servers shows what Nova did.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future

from oslo_log import log as logging

from nova_twotier.cloud.errors import CloudError, NotYet, Undecided, Unsent
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.store import DATABASE_ERRORS
from nova_twotier.db.terms import Deposed
from nova_twotier.ledger.placement import brief
from nova_twotier.manager.operations.operation import CloudRequest, Outcome

LOG = logging.getLogger(__name__)

#: Seconds until requests that Nova could not take are repeated; doubles up to the longest pause.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
#: After so many failures in a row, a passing error counts as a refusal.
MOST_FAILURES = 8


class Requests:
    """The requests of actions: an action makes its next ones when all earlier ones are answered.

    It does not wait for the answers to questions (`CloudRequest.asks`): they come one by one, and
    none is repeated before.

    :param executor: its threads make the requests.
    :param askers: its threads make those that are questions.
    :param permit: called in those threads before each request, which is dropped on `Deposed`.
    :param wake: called in those threads after each answer.
    """

    def __init__(
        self,
        executor: Executor,
        askers: Executor,
        permit: Callable[[], None],
        wake: Callable[[], None],
    ):
        self._executor, self._askers = executor, askers
        self._permit = permit
        self._wake = wake
        self._under_way: dict[int, dict[RequestKey, Future]] = {}
        self._questions: dict[int, dict[RequestKey, Future]] = {}
        self._failures: dict[int, int] = {}
        self._not_before: dict[int, float] = {}

    def make(self, action: int, requests: Iterable[CloudRequest]) -> None:
        """Make the requests of an action, which must have none but questions under way."""
        futures: dict[RequestKey, Future] = {}
        asked = self._questions.setdefault(action, {})
        for request in requests:
            if not request.asks:
                futures[request.key] = self.tell(request)
            elif request.key not in asked:
                asked[request.key] = self.tell(request)
        if futures:
            self._under_way[action] = futures

    def tell(self, request: CloudRequest) -> Future:
        """Make a request that belongs to no action; the future holds the error, or None."""
        executor = self._askers if request.asks else self._executor
        future = executor.submit(self._run, request)
        future.add_done_callback(self._answered)
        return future

    def _answered(self, future: Future) -> None:
        # What has not happened yet is not asked again before the next poll is due.
        if future.cancelled() or not isinstance(future.result(), NotYet):
            self._wake()

    def waiting(self, action: int, now: float) -> bool:
        """Whether the action still waits for answers, or backs off after failures."""
        return action in self._under_way or now < self._not_before.get(action, now)

    def collect(self, now: float) -> dict[int, list[Outcome]]:
        """The outcomes of each action whose requests are all answered, and of questions.

        Each is returned once.
        """
        over = [
            action
            for action, futures in self._under_way.items()
            if all(future.done() for future in futures.values())
        ]
        found = {action: self._answers(action, now) for action in over}
        for action, asked in self._questions.items():
            for key in [key for key, future in asked.items() if future.done()]:
                error = asked.pop(key).result()
                outcome = Outcome(key, error, _is_final(error, given_up=False))
                found.setdefault(action, []).append(outcome)
        return found

    def _answers(self, action: int, now: float) -> list[Outcome]:
        errors = {key: future.result() for key, future in self._under_way.pop(action).items()}
        found = [each for each in errors.values() if each and not isinstance(each, NotYet)]
        if not found:
            self._failures.pop(action, None)
            self._not_before.pop(action, None)
        elif all(isinstance(error, Undecided) for error in found):
            self._not_before[action] = now + LONGEST_PAUSE
        else:
            failures = self._failures[action] = self._failures.get(action, 0) + 1
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - 1, MOST_FAILURES))
            self._not_before[action] = now + pause
        given_up = self._failures.get(action, 0) >= MOST_FAILURES
        return [Outcome(key, error, _is_final(error, given_up)) for key, error in errors.items()]

    def forget(self, action: int) -> None:
        """Drop what is kept about an action that is over."""
        self._failures.pop(action, None)
        self._not_before.pop(action, None)
        self._questions.pop(action, None)

    def close(self) -> None:
        """Wait for the requests under way and drop those that have not begun."""
        for executor in (self._askers, self._executor):
            executor.shutdown(cancel_futures=True)

    def _run(self, request: CloudRequest) -> CloudError | None:
        try:
            self._permit()
            request.run()
        except NotYet as error:
            return error
        except CloudError as error:
            # Not by the whole text, which names the request: no two are alike.
            if request.before is None or brief(error) != brief(request.before):
                LOG.warning("Request %s: %s", request.key, error)
            return error
        except (Deposed, *DATABASE_ERRORS) as error:
            LOG.warning("Request %s was not made: %s", request.key, error)
            return CloudError(str(error))
        if request.before is not None:
            LOG.info("Request %s has succeeded at last", request.key)
        return None


def _is_final(error: CloudError | None, given_up: bool) -> bool:
    """Whether a request is not repeated after this answer, or counts as refused."""
    if error is None or not error.passing:
        return True
    return given_up and not isinstance(error, Undecided | Unsent | NotYet)
