"""When to try again: after another client was faster, or after credentials were refused."""

import random
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from keystoneauth1.session import Session

from nova_twotier.ledger.placement import Placement, PlacementError, StaleGeneration

#: Number of attempts.
ATTEMPTS = 8
#: Longest pause before the second attempt, seconds; doubles each time. The actual pause is a random
#: part of it, so that two clients do not collide again.
PAUSE = 0.005

#: First and longest pause, in seconds, between two attempts to log in with refused credentials.
FIRST_LOGIN_PAUSE, LOGIN_PAUSE = 1.0, 60.0

T = TypeVar("T")


class LoginBackoff:
    """Pauses between attempts with refused credentials, which only an operator can mend.

    Each pause is twice as long as the last one: Keystone may lock a user after too many failures.
    """

    def __init__(self) -> None:
        self._pause = 0.0

    def next(self, least: float = FIRST_LOGIN_PAUSE) -> float:
        """Seconds to wait before the next attempt.

        :param least: the pause that any other error has, seconds.
        """
        self._pause = min(max(2 * self._pause, least), max(LOGIN_PAUSE, least))
        return self._pause

    def reset(self) -> None:
        """Begin again with the shortest pause."""
        self._pause = 0.0


class PatientPlacement(Placement):
    """A client that, after its credentials were refused, asks again only after a pause.

    Until then each request raises the same error, without asking.

    :param clock: seconds since any origin; cannot be set.
    """

    def __init__(
        self, session: Session, clock: Callable[[], float] = time.monotonic, **options: Any
    ):
        super().__init__(session, **options)
        self._clock = clock
        self._backoff = LoginBackoff()
        #: The last refusal, and until when it counts.
        self._refusal, self._until = "", 0.0

    def _request(self, method: str, url: str, body: dict | None = None) -> dict:
        if self._refusal and self._clock() < self._until:
            raise PlacementError(self._refusal, HTTPStatus.UNAUTHORIZED)
        try:
            answer = super()._request(method, url, body)
        except PlacementError as error:
            if error.login:
                self._refusal, self._until = str(error), self._clock() + self._backoff.next()
            raise
        self._refusal = ""
        self._backoff.reset()
        return answer


def until_fresh(write: Callable[[], T]) -> T:
    """Call `write`, which reads, changes and writes, until it succeeds; return its result.

    :raises StaleGeneration: if others were faster at each of `ATTEMPTS` attempts. Other errors,
        such as a lack of room, are raised at once.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return write()
        except StaleGeneration:
            time.sleep(random.uniform(0, PAUSE * 2**attempt))  # noqa: S311
    return write()
