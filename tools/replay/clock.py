"""Trace time and wall time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """The trace's first submission is at `began`; `speedup` trace seconds pass in a wall second."""

    began: float
    speedup: float

    def wall(self, trace: float) -> float:
        """When an instant of the trace is, in seconds since the epoch."""
        return self.began + trace / self.speedup

    def trace(self, wall: float) -> float:
        return (wall - self.began) * self.speedup
