"""Remembers what callers were found to have in Nova, and that Nova did not answer."""

import time

#: What somebody was found to have: project, user, pool, kind and name. A flavor that fits one pool
#: may not fit another.
Thing = tuple[str, str, str, str, str]


class Known:
    """Remembers for a while what was found, as a trace submits thousands of jobs that are alike."""

    #: Seconds.
    LIFETIME = 30.0
    MOST = 10_000

    def __init__(self) -> None:
        self._until: dict[Thing, float] = {}
        self._silent_until = 0.0
        self._fitting: dict[tuple[str, str | None], tuple[int, float]] = {}

    def __contains__(self, thing: Thing) -> bool:
        return self._until.get(thing, 0.0) > time.monotonic()

    @property
    def silent(self) -> bool:
        """Whether Nova did not answer a moment ago: it may take long to fail again."""
        return self._silent_until > time.monotonic()

    def did_not_answer(self) -> None:
        """Note that Nova does not answer."""
        self._silent_until = time.monotonic() + self.LIFETIME

    def fits(self, project: str, flavor: str | None, size: int) -> bool:
        """Whether a job of this size, or a larger one, was found to be within a project's quota."""
        known, until = self._fitting.get((project, flavor), (0, 0.0))
        return size <= known and until > time.monotonic()

    def add_fitting(self, project: str, flavor: str | None, size: int) -> None:
        """Note that a job of this size is within the quota of its project."""
        if len(self._fitting) >= self.MOST:
            self._fitting.clear()
        self._fitting[project, flavor] = size, time.monotonic() + self.LIFETIME

    def add(self, thing: Thing) -> None:
        if len(self._until) >= self.MOST:
            self._until.clear()
        self._until[thing] = time.monotonic() + self.LIFETIME
