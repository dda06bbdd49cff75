"""A pending request: when it was made, and its answer once there is one."""

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Asked(Generic[T]):
    """Something that was asked at some time, and its answer."""

    at: float
    answer: Future[T]

    def may_repeat(self, now: float, pause: float) -> bool:
        """Whether it may be asked again: nothing is under way, and that was long enough ago."""
        return self.answer.done() and now >= self.at + pause
