"""The schedule itself: which process was on which slot, in which tier, from when to when."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from nova_twotier.core import slot_numbers
from nova_twotier.core.actions import Tier
from nova_twotier.sim.execution import Execution

#: When a job came to its slots and left them, its number, its tier, and the host of each process.
Gang = tuple[float, float, int, Tier, tuple[int, ...]]


class Stay(NamedTuple):
    """One process on one slot in one tier; times in seconds, slots and processes from 0."""

    job: int
    process: int
    slot: int
    tier: Tier
    begin: float
    end: float


class Recorder:
    """Keeps every stay that took any time.

    :param slots: of a host.
    """

    def __init__(self, slots: int = 1):
        self._slots = slots
        self._gangs: list[Gang] = []

    def left(self, job: Execution, now: float) -> None:
        """Record that `job` leaves its slots, or its tier."""
        if now > job.placed:
            self._gangs.append((job.placed, now, job.job.number, job.tier, job.hosts))

    def stays(self) -> Iterator[Stay]:
        """All stays by begin. The slots of a host have the numbers that the queue manager would
        give them; beyond its slots, several background VMs share one."""
        gangs = sorted(self._gangs)
        numbers = self._numbers(gangs)
        for begin, end, number, tier, hosts in gangs:
            for process, host in enumerate(hosts):
                slot = host * self._slots + next(numbers) % self._slots
                yield Stay(number, process, slot, tier, begin, end)

    def _numbers(self, gangs: list[Gang]) -> Iterator[int]:
        if self._slots == 1:
            return itertools.repeat(0)
        stays = [
            slot_numbers.Stay(begin, end, slot_numbers.Place((number, process), host, tier))
            for begin, end, number, tier, hosts in gangs
            for process, host in enumerate(hosts)
        ]
        slots = dict.fromkeys((stay.place.host for stay in stays), self._slots)
        return iter(slot_numbers.of_history(stays, slots))
