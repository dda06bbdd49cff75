"""Writes that are based on a read: again, from a fresh read, when somebody else was faster."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from nova_twotier.ledger.placement import StaleGeneration

#: How often a write is tried in all.
ATTEMPTS = 8
#: Longest pause before the second try, seconds; it doubles each time. Two who met are not to meet
#: again: each takes a random part of it.
PAUSE = 0.005

T = TypeVar("T")


def until_fresh(write: Callable[[], T]) -> T:
    """What `write` returns, which reads, changes and writes.

    :raises StaleGeneration: if somebody was faster each of `ATTEMPTS` times. Any other error,
        such as that there is no room, is raised at once.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return write()
        except StaleGeneration:
            time.sleep(random.uniform(0, PAUSE * 2**attempt))  # noqa: S311
    return write()
