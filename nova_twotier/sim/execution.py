"""A job in the simulated system: the work it has left, and statistics of what happened to it."""

import math

from nova_twotier.core.actions import FG, StartKind, Tier
from nova_twotier.core.jobs import Job
from nova_twotier.core.progress import positive


class Execution:
    """
    :param job: as the policy sees it.
    :param cpu: the true CPU utilisation of each process.
    :param runtime: seconds of work on dedicated slots.
    """

    __slots__ = (
        "background",
        "burn",
        "busy",
        "cpu",
        "demand",
        "eff",
        "evictions",
        "finish",
        "first_tier",
        "hosts",
        "how",
        "job",
        "kills",
        "lost",
        "migrations",
        "own",
        "placed",
        "rate",
        "remaining",
        "runtime",
        "saved",
        "since",
        "start",
        "swaps",
        "tier",
    )

    def __init__(self, job: Job, cpu: tuple[float, ...], runtime: float):
        self.job = job
        self.cpu = positive(cpu)
        self.runtime = runtime
        #: CPU seconds per second that it uses in the foreground.
        self.demand = sum(cpu)
        #: Work left, in seconds; of each process, if they have their own.
        self.remaining = runtime
        self.own: list[float] = []
        #: Work done and CPU seconds used per second, since a time.
        self.rate: float | list[float] | None = None
        self.burn = 0.0
        self.since = 0.0
        #: When it will end if nothing changes.
        self.finish = math.inf
        #: Its present or last place.
        self.tier: Tier = FG
        self.hosts: tuple[int, ...] = ()
        #: Since when it is there.
        self.placed = 0.0
        self.eff: float | list[float] = 0.0
        #: Whether it was evicted, and waits with its state saved.
        self.saved = False
        # Statistics.
        self.start: float | None = None
        self.how: StartKind | None = None
        self.first_tier: Tier | None = None
        self.migrations = self.evictions = self.kills = self.swaps = 0
        #: Seconds on slots of the background, with those in which it was on its way there.
        self.background = 0.0
        self.lost = self.busy = 0.0

    def advance(self, now: float) -> None:
        """Do the work that was done until `now`."""
        seconds = now - self.since
        if seconds <= 0:  # it is still on its way to its slots
            return
        self.busy += self.burn * seconds
        rate = self.rate
        if isinstance(rate, list):
            self.own = [work - own * seconds for work, own in zip(self.own, rate, strict=True)]
        elif rate is not None:
            self.remaining -= rate * seconds
        self.since = now

    def done(self, now: float) -> float:
        """Seconds of work that it has done by `now`: of its slowest process."""
        seconds = max(0.0, now - self.since)
        rate = self.rate or 0.0
        if isinstance(rate, list):
            left = max([work - own * seconds for work, own in zip(self.own, rate, strict=True)])
        else:
            left = max(self.own) if self.own else self.remaining - rate * seconds
        return max(0.0, self.runtime - left)

    def change(self, rate: float | list[float], burn: float, now: float) -> float:
        """Advance at `rate`, and use `burn` CPU seconds per second, from `now` on.

        Sets, and returns, when it will end.
        """
        if self.rate is not None:
            self.advance(now)
        self.rate, self.burn = rate, burn
        if isinstance(rate, list):
            pairs = zip(self.own, rate, strict=True)
            finish = self.since + max([_seconds(work, speed) for work, speed in pairs])
        else:
            work = self.remaining
            finish = self.since + (work / rate if work > 0 < rate else _seconds(work, rate))
        self.finish = finish
        return finish

    def restart(self) -> None:
        """Lose all work."""
        left = max(self.own) if self.own else self.remaining
        self.lost += self.runtime - left
        self.remaining = self.runtime
        if self.own:
            self.own = [self.runtime] * self.job.size

    def divide(self) -> None:
        """Give each process its own work."""
        if not self.own:
            self.own = [self.remaining] * self.job.size


def _seconds(work: float, rate: float) -> float:
    if work <= 0:
        return 0.0
    return work / rate if rate > 0 else math.inf
