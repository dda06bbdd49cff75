"""Remembers what callers were found to have in Nova, and that Nova did not answer."""

import time

#: What somebody was found to have: project, user, kind and name.
Thing = tuple[str, str, str, str]
#: What jobs have in common if a smaller one is within the quota whenever a larger one is: project,
#: flavor, and whether their servers are in a server group.
Alike = tuple[str, str | None, bool]


class Known:
    """Remembers for a while what was found, as a trace submits thousands of jobs that are alike."""

    #: Seconds.
    LIFETIME = 30.0
    MOST = 10_000

    def __init__(self) -> None:
        self._until: dict[Thing, float] = {}
        self._silent_until = 0.0
        self._fitting: dict[Alike, tuple[int, float]] = {}

    def __contains__(self, thing: Thing) -> bool:
        return self._until.get(thing, 0.0) > time.monotonic()

    @property
    def silent(self) -> bool:
        """Whether Nova did not answer a moment ago: it may take long to fail again."""
        return self._silent_until > time.monotonic()

    def did_not_answer(self) -> None:
        """Note that Nova does not answer."""
        self._silent_until = time.monotonic() + self.LIFETIME

    def fits(self, alike: Alike, size: int) -> bool:
        """Whether a job of this size, or a larger one, was found to be within a project's quota."""
        known, until = self._fitting.get(alike, (0, 0.0))
        return size <= known and until > time.monotonic()

    def add_fitting(self, alike: Alike, size: int) -> None:
        """Note that a job of this size is within the quota of its project."""
        if len(self._fitting) >= self.MOST:
            self._fitting.clear()
        self._fitting[alike] = size, time.monotonic() + self.LIFETIME

    def add(self, thing: Thing) -> None:
        if len(self._until) >= self.MOST:
            self._until.clear()
        self._until[thing] = time.monotonic() + self.LIFETIME
