"""Keeps the last answers to conditional requests, so that readers who see the same share them.

Twenty boards that watch one cloud ask for the same pages after each change: the first one to ask
has the page made, the others get a copy.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable

#: Bytes of all answers that are kept.
MOST_BYTES = 2**25


class Answers:
    """Bodies of answers by their ETags; the one that has been used least recently goes first.

    :param most: bytes of all of them. One that takes more than an eighth of it is not kept.
    """

    def __init__(self, most: int = MOST_BYTES):
        self._most = most
        self._size = 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}

    def get(self, tag: str, make: Callable[[], bytes]) -> bytes:
        """The answer with this tag.

        Callers that come while it is being made wait for it.

        :param make: makes it; what it raises is raised to this caller, and the next one tries.
        """
        with self._lock:
            if (found := self._use(tag)) is not None:
                return found
            turn = self._making.setdefault(tag, threading.Lock())
        with turn:
            with self._lock:
                if (found := self._use(tag)) is not None:
                    return found
            try:
                made = make()
                with self._lock:
                    self._keep(tag, made)
            finally:
                with self._lock:
                    self._making.pop(tag, None)
        return made

    def _use(self, tag: str) -> bytes | None:
        if (found := self._kept.get(tag)) is not None:
            self._kept.move_to_end(tag)
        return found

    def _keep(self, tag: str, made: bytes) -> None:
        if 8 * len(made) > self._most or tag in self._kept:
            return
        self._kept[tag] = made
        self._size += len(made)
        while self._size > self._most:
            _tag, oldest = self._kept.popitem(last=False)
            self._size -= len(oldest)
