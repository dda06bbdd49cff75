"""Keeps what is costly to read for a few seconds, whoever asks for it."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Generic, NoReturn, TypeVar

T = TypeVar("T")


class Cached(Generic[T]):
    """The result of a function that many callers need and that is read at most every few seconds.

    Callers that come while it is being read wait for the same result. An error is kept as well, so
    that callers do not wait one after the other for a service that does not answer.

    :param read: makes it.
    :param seconds: how long it is kept; longer if reading it takes long, so that reading takes no
        more than a tenth of the time, however often callers ask.
    :param clock: seconds since any origin; cannot be set.
    """

    def __init__(
        self, read: Callable[[], T], seconds: float, clock: Callable[[], float] = time.monotonic
    ):
        self._read, self._seconds, self._clock = read, seconds, clock
        self._lock = threading.Lock()
        self._until = float("-inf")
        self._outcome: Callable[[], T] = read

    def get(self) -> T:
        """:raises Exception: what reading it has raised."""
        with self._lock:
            if (began := self._clock()) < self._until:
                return self._outcome()
            try:
                value = self._read()
            except Exception as error:
                self._outcome = partial(_raise, error)
                raise
            else:
                self._outcome = lambda: value
                return value
            finally:
                now = self._clock()
                self._until = now + max(self._seconds, 9 * (now - began))


def _raise(error: Exception) -> NoReturn:
    # Its traceback is that of the caller who has read; it would grow with every other one.
    raise error.with_traceback(None)
