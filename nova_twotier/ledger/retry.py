"""Repeats a read-and-write from a fresh read when another client was faster."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from nova_twotier.ledger.placement import StaleGeneration

#: Number of attempts.
ATTEMPTS = 8
#: Longest pause before the second attempt, seconds; doubles each time. The actual pause is a random
#: part of it, so that two clients do not collide again.
PAUSE = 0.005

T = TypeVar("T")


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
