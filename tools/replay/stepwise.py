"""Plays jobs one event at a time: the next when all consequences of the last one are done.

So a live run decides on the same states as a simulation, in which no operation takes time. The
guests' clock stands still while Nova works.
"""

import math
from collections import deque
from collections.abc import Iterable
from typing import Protocol

from nova_twotier.cloud.servers import Server
from nova_twotier.tools.replay.guests import Guests
from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.sampling import Sample
from nova_twotier.tools.replay.workload import ReplayJob


class World(Protocol):
    """A queue manager and its cloud; `now` is in seconds on the guests' clock."""

    def submit(self, job: ReplayJob, now: float) -> Entry:
        """Put a job into the queue."""

    def stop(self, servers: Iterable[Server], now: float) -> None:
        """The guests of a job are done."""

    def settle(self) -> Sample:
        """Wait until nothing is left to do; returns the state then."""


def play(jobs: Iterable[ReplayJob], roster: Roster, world: World) -> None:
    """Until no job comes, and none advances.

    :param jobs: by their time of submission.
    """
    coming = deque(jobs)
    guests = Guests(roster)
    now, sample = 0.0, world.settle()
    while coming or guests.left():
        arrival = coming[0].submit if coming else math.inf
        left = guests.left()
        first = min(left, key=left.get, default=None)
        end = now + left.get(first, math.inf)
        # On whole seconds, no two events at once.
        then = max(math.ceil(min(arrival, end)), now + 1)
        guests.advance(then - now, sample)
        now = then
        if arrival <= end:
            roster.add(world.submit(coming.popleft(), now))
        else:
            world.stop(sample.gangs()[roster[first].uuid], now)
        sample = world.settle()
        guests.advance(0, sample)
