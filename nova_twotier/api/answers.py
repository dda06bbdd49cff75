"""Keeps the last answers to conditional requests, so that readers who see the same share them.

Twenty boards that watch one cloud ask for the same pages after each change: the first one to ask
has the page made, the others get a copy.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

#: Bytes of all answers, and number of the tags, that are kept.
MOST_BYTES = 2**25
MOST_TAGS = 2000


class Answers:
    """An LRU cache of response bodies, keyed by their ETags.

    :param most: bytes of all of them. One that takes more than an eighth of it is not kept.
    :param clock: seconds since any origin; cannot be set.
    """

    def __init__(self, most: int = MOST_BYTES, clock: Callable[[], float] = time.monotonic):
        self._most, self._clock = most, clock
        self._tags: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._size = 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[str, threading.Lock] = {}

    def tag(self, question: str, age: float, make: Callable[[], str]) -> str:
        """The ETag of the answer to a question.

        :param age: how old it may be, in seconds; 0: it is made anew.
        """
        now = self._clock()
        with self._lock:
            at, tag = self._tags.get(question, (now, ""))
        if tag and now - at < age:
            return tag
        tag = make()
        with self._lock:
            self._tags[question] = now, tag
            self._tags.move_to_end(question)
            if len(self._tags) > MOST_TAGS:
                self._tags.popitem(last=False)
        return tag

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
