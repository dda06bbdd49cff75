"""The schedule itself: which process was on which slot, in which tier, from when to when."""

from collections.abc import Iterator
from typing import NamedTuple

from nova_twotier.core.actions import Tier
from nova_twotier.sim.execution import Execution


class Stay(NamedTuple):
    """One process on one slot in one tier; times in seconds, slots and processes from 0."""

    job: int
    process: int
    slot: int
    tier: Tier
    begin: float
    end: float


class Recorder:
    """Keeps every stay that took any time."""

    def __init__(self):
        self._gangs: list[tuple[int, Tier, tuple[int, ...], float, float]] = []

    def left(self, job: Execution, now: float) -> None:
        """`job` leaves its slots, or its tier."""
        if now > job.placed:
            self._gangs.append((job.job.number, job.tier, job.hosts, job.placed, now))

    def stays(self) -> Iterator[Stay]:
        for number, tier, hosts, begin, end in self._gangs:
            for process, slot in enumerate(hosts):
                yield Stay(number, process, slot, tier, begin, end)
