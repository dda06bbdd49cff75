"""Which running processes share a slot, and the idle CPU share that each finds there."""

import math
from bisect import bisect_left
from collections.abc import Collection, Sequence

from nova_twotier.core.actions import FG, Tier
from nova_twotier.core.cluster import Cluster


class Occupant:
    """A running job, and how much CPU its processes find idle on their slots.

    :ivar idle: the CPU share that each process finds idle on its slot; infinite where nothing is
        beside it. In the foreground, that is all of it.
    :ivar sharing: how many of its processes share a slot.
    """

    __slots__ = ("hosts", "idle", "number", "sharing", "tier")

    def __init__(self, number: int, tier: Tier, hosts: Sequence[int]):
        self.number = number
        self.tier = tier
        self.hosts = hosts
        self.idle = [math.inf] * len(hosts)
        self.sharing = 0


#: A process on a host: what it is sorted by there, the number of its job, its index, the CPU
#: utilisation that it really has, and its job.
Seat = tuple[float, int, int, float, Occupant]


class Neighbours:
    """Who shares a slot with whom, as `slots.arrange` has it.

    A host is arranged anew only after a process came to it or left it. After `changed`, all
    occupants know what they would if every host were arranged anew.

    :param cluster: the hosts; the jobs on them are told by `come`.
    :param floor: least CPU share that a process in the background finds.
    """

    def __init__(self, cluster: Cluster, floor: float):
        self._slots = [host.slots for host in cluster.hosts]
        self._threshold = cluster.threshold
        self._floor = floor
        #: The processes on each host, in the order of `arrange` once it is arranged: those in the
        #: foreground from the coolest on, those in the background from the hottest on.
        self._front: list[list[Seat]] = [[] for _host in self._slots]
        self._back: list[list[Seat]] = [[] for _host in self._slots]
        #: Hosts where processes shared a slot when they were arranged, and those to be arranged.
        self._shared: set[int] = set()
        self._stale: set[int] = set()
        self._occupants: dict[int, Occupant] = {}
        #: By number, those of whom `changed` will tell.
        self._affected: dict[int, Occupant] = {}

    def come(
        self,
        number: int,
        tier: Tier,
        hosts: Sequence[int],
        known: Sequence[float],
        own: Sequence[float],
    ) -> None:
        """Place a running job on its hosts.

        :param known: the CPU utilisations by which hosts arrange its processes.
        :param own: those that they really have.
        """
        occupant = Occupant(number, tier, hosts)
        self._occupants[number] = self._affected[number] = occupant
        seats, sign = (self._front, 1.0) if tier is FG else (self._back, -1.0)
        for index, host in enumerate(hosts):
            seats[host].append((sign * known[index], number, index, own[index], occupant))
        self._stale.update(hosts)

    def leave(self, number: int) -> None:
        """Remove a job from its hosts."""
        occupant = self._occupants.pop(number)
        self._affected.pop(number, None)
        seats = self._front if occupant.tier is FG else self._back
        left = set(occupant.hosts)
        for host in left:
            seats[host] = [seat for seat in seats[host] if seat[4] is not occupant]
        self._stale |= left

    def changed(self) -> Collection[Occupant]:
        """Arrange the hosts where jobs came or left; returns the jobs whose rates may differ now.

        These are the jobs that came, those in the background of which a process finds something
        else idle, and those in the foreground that begin or end to share slots, or do both at once.
        """
        for host in self._stale:
            self._arrange(host)
        self._stale.clear()
        affected, self._affected = self._affected, {}
        return affected.values()

    def _arrange(self, host: int) -> None:
        front, back = self._front[host], self._back[host]
        # A host that was shrunk below its use keeps its VMs.
        vacant = max(0, self._slots[host] - len(front))
        if len(back) > vacant:
            self._shared.add(host)
        elif host in self._shared:
            self._shared.remove(host)
        else:
            return
        front.sort()
        back.sort()
        slots = vacant + len(front)
        if front and front[-1][0] >= self._threshold:
            slots = vacant + bisect_left(front, self._threshold, key=_cpu) or slots
        affected, floor = self._affected, self._floor
        left = [1.0] * vacant + [1.0 - own for _by, _number, _index, own, _job in front]
        for position, (_by, number, index, own, job) in enumerate(back):
            slot = position % slots
            idle = left[slot]
            left[slot] = idle - own
            if position < vacant:
                idle = math.inf
            elif idle < floor:
                idle = floor
            before = job.idle[index]
            if before != idle:
                job.idle[index] = idle
                job.sharing += (idle < math.inf) - (before < math.inf)
                affected[number] = job
        below = min(len(back), slots) - vacant
        for position, (_by, number, index, _own, job) in enumerate(front):
            idle = 1.0 if position < below else math.inf
            if job.idle[index] != idle:
                job.idle[index] = idle
                shared = job.sharing
                job.sharing += 1 if idle < math.inf else -1
                if not (shared and job.sharing):
                    affected[number] = job


def _cpu(seat: Seat) -> float:
    return seat[0]
