"""Logs each trouble once when it begins, and once when it is over."""

from collections.abc import Collection
from logging import LoggerAdapter


class Troubles:
    """Remembers what is wrong now, under a key for each thing, such as the uuid of a VM."""

    def __init__(self, log: LoggerAdapter):
        self._log = log
        self._present: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._present)

    def has(self, what: str, text: str) -> None:
        """Note a trouble, and log it if it is new."""
        if what not in self._present:
            self._log.warning("%s", text)
        self._present.add(what)

    def over(self, what: str, text: str) -> None:
        """Forget a trouble, and log its end if there was one."""
        if what in self._present:
            self._log.info("%s", text)
        self._present.discard(what)

    def keep(self, known: Collection[str]) -> None:
        """Forget all troubles but those with these keys, without logging."""
        self._present &= set(known)
