"""Remembers what callers were found to have in Nova."""

import time

#: What somebody was found to have: project, user, kind and name.
Thing = tuple[str, str, str, str]


class Known:
    """Remembers for a while what was found, as a trace submits thousands of jobs that are alike."""

    #: Seconds.
    LIFETIME = 30.0
    MOST = 10_000

    def __init__(self) -> None:
        self._until: dict[Thing, float] = {}

    def __contains__(self, thing: Thing) -> bool:
        return self._until.get(thing, 0.0) > time.monotonic()

    def add(self, thing: Thing) -> None:
        if len(self._until) >= self.MOST:
            self._until.clear()
        self._until[thing] = time.monotonic() + self.LIFETIME
