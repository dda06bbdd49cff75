"""Logs what is wrong once, and once more when it is over."""

from collections.abc import Collection
from logging import LoggerAdapter


class Troubles:
    """What is wrong now, by a key for each thing that can be."""

    def __init__(self, log: LoggerAdapter):
        self._log = log
        self._present: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._present)

    def has(self, what: str, text: str) -> None:
        """Something is wrong; logged only if it was not before."""
        if what not in self._present:
            self._log.warning("%s", text)
        self._present.add(what)

    def over(self, what: str, text: str) -> None:
        """It is not; logged only if it was."""
        if what in self._present:
            self._log.info("%s", text)
        self._present.discard(what)

    def keep(self, known: Collection[str]) -> None:
        """Forget, without a word, what is wrong with anything else."""
        self._present &= set(known)
