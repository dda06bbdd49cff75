"""Lists all server groups."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Document = dict[str, Any]


def listed(read: Callable[[int], Sequence[Document]]) -> Iterator[Document]:
    """Yield each server group once; none that exists during the whole listing is missed.

    Nova pages groups by offset alone, in the order of its database, which is as a rule the order in
    which they were made: when one is deleted, those after it move up, and the next page would begin
    too late. So each page begins with the last group of the one before, and if that is not there,
    the page before is read again.

    :param read: the groups of the page that begins at an offset.
    """
    seen: set[str] = set()
    offset = largest = 0
    while True:
        page = read(offset)
        largest = max(largest, len(page))
        # Pages of one cannot overlap.
        if offset and largest > 1 and not (page and page[0]["id"] in seen):
            offset = max(0, offset - largest + 1)
            continue
        new = [group for group in page if group["id"] not in seen]
        seen.update(group["id"] for group in new)
        yield from new
        if not new and len(page) < 2:
            return
        offset += max(1, len(page) - 1)
