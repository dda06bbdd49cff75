"""Shortens lists of names in messages: a large cloud has thousands of hosts."""

from collections.abc import Sequence

#: A message has no more names than these.
MOST = 10


def listed(names: Sequence[str], separator: str = ", ") -> str:
    """The first names, and how many more there are."""
    more = len(names) - MOST
    shown = separator.join(names[:MOST])
    return f"{shown} and {more:,} more" if more > 0 else shown
