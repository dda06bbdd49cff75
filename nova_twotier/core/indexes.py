"""The indexes of a job array, in the notation of Slurm: `0-99`, `1,3,5`, `0-98:2`."""

import re
from collections.abc import Collection, Iterator

#: Most tasks of an array.
MOST_TASKS = 10_000
#: The largest index: with it, all that a guest is told of its array fits into Nova's metadata.
MOST_INDEX = 999_999

#: So many digits are enough for any mistake; Python refuses to read thousands of them.
_DIGITS = "[0-9]{1,18}"
_PART = re.compile(rf"(?P<first>{_DIGITS})(-(?P<last>{_DIGITS})(:(?P<step>{_DIGITS}))?)?")
_FORMS = "give indexes such as 0-99, 1,3,5 or 0-98:2"


class InvalidIndexes(ValueError):
    """They cannot be those of an array; the message says what is wrong and what to give."""


def parse(text: str) -> list[int]:
    """The indexes in ascending order.

    :raises InvalidIndexes: if there are none, too many, one twice, or one that is too large.
    """
    found: set[int] = set()
    for part in text.split(","):
        these = _range(part.strip())
        if len(found) + len(these) > MOST_TASKS:
            raise InvalidIndexes(f"{text[:60]!r} has more than {MOST_TASKS:,} indexes")
        if twice := found.intersection(these):
            raise InvalidIndexes(f"{text[:60]!r} has the index {min(twice)} twice")
        found.update(these)
    return sorted(found)


def _range(part: str) -> range:
    match = _PART.fullmatch(part)
    if match is None:
        raise InvalidIndexes(f"{part[:60]!r} is not an index or a range: {_FORMS}")
    first = int(match["first"])
    last = int(match["last"] or first)
    step = int(match["step"] or 1)
    if last > MOST_INDEX or first > MOST_INDEX:
        raise InvalidIndexes(f"{part[:60]!r}: give indexes of at most {MOST_INDEX:,}")
    if last < first:
        raise InvalidIndexes(f"{part[:60]!r} ends before it begins: {_FORMS}")
    if step < 1:
        raise InvalidIndexes(f"{part[:60]!r}: give a step of at least 1")
    return range(first, last + 1, step)


def written(indexes: Collection[int]) -> str:
    """These indexes as a text that `parse` reads; empty if there are none."""
    return ",".join(_runs(sorted(indexes)))


def _runs(ordered: list[int]) -> Iterator[str]:
    at = 0
    while at < len(ordered):
        first, end = ordered[at], at + 1
        step = ordered[end] - first if end < len(ordered) else 1
        while end < len(ordered) and ordered[end] - ordered[end - 1] == step:
            end += 1
        if end - at >= (2 if step == 1 else 3):
            yield f"{first}-{ordered[end - 1]}" + (f":{step}" if step > 1 else "")
            at = end
        else:
            yield str(first)
            at += 1
