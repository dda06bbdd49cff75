"""Lists all server groups, and remembers those that need no list.

Nova cannot look up a group by its name, and lists a thousand of them in seconds.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Document = dict[str, Any]

#: Groups that are remembered. Those of jobs whose servers are kept when they end stay for good.
MOST = 10_000


class OnlyGroups:
    """The ids of groups that are surely the only ones of their jobs, by the uuids of these.

    At most `MOST`: the oldest is forgotten, so that whoever asks for it has to list the groups.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[str, str] = {}

    def add(self, job: str, group: str) -> None:
        with self._lock:
            self._groups[job] = group
            if len(self._groups) > MOST:
                del self._groups[next(iter(self._groups))]

    def get(self, job: str) -> str | None:
        with self._lock:
            return self._groups.get(job)

    def forget(self, job: str) -> None:
        with self._lock:
            self._groups.pop(job, None)


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
