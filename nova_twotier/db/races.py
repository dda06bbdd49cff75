"""Retries a change that inserts a row, if another transaction has inserted the same row first."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from oslo_db.exception import DBDuplicateEntry

P = ParamSpec("P")
T = TypeVar("T")


def again_if_made(change: Callable[P, T]) -> Callable[P, T]:
    """Repeat a change whose row another has made meanwhile: it then finds that row, and changes it.

    :param change: a transaction of its own.
    """

    @functools.wraps(change)
    def repeated(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return change(*args, **kwargs)
        except DBDuplicateEntry:
            return change(*args, **kwargs)

    return repeated
