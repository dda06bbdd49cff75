"""Several threads that want to read the same at the same time share one reading."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedReading(Generic[T]):
    """Calls `read` once for all threads that wait for it, and never twice at the same time.

    No caller gets what was read before it asked: one that comes during a reading waits for the
    next, which begins when that one ends.

    :param read: what it returns, or raises, is for all that wait.
    """

    def __init__(self, read: Callable[[], T]):
        self._read = read
        self._changed = threading.Condition()
        self._under_way = False
        #: The reading that begins next.
        self._next: Future[T] = Future()

    def get(self) -> T:
        """The result of a reading that begins after this call.

        :raises Exception: that of `read`.
        """
        with self._changed:
            mine = self._next
            self._changed.wait_for(lambda: mine.done() or not self._under_way)
            if mine.done():
                return mine.result()
            self._under_way, self._next = True, Future()
        try:
            mine.set_result(self._read())
        except BaseException as error:
            mine.set_exception(error)
        finally:
            with self._changed:
                self._under_way = False
                self._changed.notify_all()
        return mine.result()
