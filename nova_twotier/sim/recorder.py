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
    """Keeps every stay that took any time.

    :param slots: of a host.
    """

    def __init__(self, slots: int = 1):
        self._slots = slots
        self._gangs: list[tuple[float, float, int, Tier, tuple[int, ...]]] = []

    def left(self, job: Execution, now: float) -> None:
        """Record that `job` leaves its slots, or its tier."""
        if now > job.placed:
            self._gangs.append((job.placed, now, job.job.number, job.tier, job.hosts))

    def stays(self) -> Iterator[Stay]:
        """All stays by begin. The slots of a host are assigned as they become free, the lowest
        first."""
        lanes = _Lanes(self._slots)
        for begin, end, number, tier, hosts in sorted(self._gangs):
            for process, host in enumerate(hosts):
                yield Stay(number, process, lanes.take(tier, host, begin, end), tier, begin, end)


class _Lanes:
    """Gives each process of a host a slot, which the decisions only count."""

    def __init__(self, slots: int):
        self._slots = slots
        #: When each lane of a tier of a host is free again.
        self._free: dict[tuple[Tier, int], list[float]] = {}

    def take(self, tier: Tier, host: int, begin: float, end: float) -> int:
        lanes = self._free.setdefault((tier, host), [])
        for lane, free in enumerate(lanes):
            if free <= begin:
                lanes[lane] = end
                break
        else:
            lane = len(lanes)
            lanes.append(end)
        # Beyond its slots, several background VMs share one.
        return host * self._slots + lane % self._slots
