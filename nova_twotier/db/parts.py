"""Splits the values of a statement, to bound its length: thousands of jobs may be asked about."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

#: Most values in one statement.
MANY = 500

ValueT = TypeVar("ValueT", int, str)


def in_parts(values: Iterable[ValueT]) -> Iterator[list[ValueT]]:
    """The values in their order, each once, in parts of at most `MANY`."""
    every = sorted(set(values))
    return (every[first : first + MANY] for first in range(0, len(every), MANY))
