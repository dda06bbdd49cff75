"""Free foreground slots over time, by the estimates of running and reserved jobs."""

import math
from bisect import bisect_left, bisect_right

from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Cluster


class Profile:
    """A step function: `free[i]` slots from `times[i]` until the next time.

    Runs without a known end are expected never to end.
    """

    def __init__(self, cluster: Cluster, now: float):
        self.times = [now]
        self.free = [cluster.idle[FG]]
        for until, _number, size in cluster.ends:
            if until <= self.times[-1]:
                # It overran its estimate and is expected to end at any moment, but has not.
                until = max(until, math.nextafter(now, math.inf))
            if until > self.times[-1]:
                self.times.append(until)
                self.free.append(self.free[-1])
            self.free[-1] += size
        #: Slots that are not held for jobs whose start depends on runs without a known end.
        self._left = self._most = self.free[-1] + cluster.endless()

    def earliest(self, size: int, duration: float) -> float:
        """The earliest time from which `size` slots are free for `duration` seconds."""
        begin = 0
        for index, free in enumerate(self.free):
            if begin < index and self.times[index] >= self.times[begin] + duration:
                break
            if free < size:
                begin = index + 1
        return self.times[begin] if begin < len(self.times) else math.inf

    def take(self, begin: float, duration: float, size: int) -> None:
        """Reserve `size` slots; `begin` is a time that `earliest` named."""
        first = bisect_left(self.times, begin)
        # A job of no duration needs its slots, too: others would take them again and again.
        last = self._step(max(begin + duration, math.nextafter(begin, math.inf)))
        for index in range(first, last):
            self.free[index] -= size

    def hold(self, size: int) -> None:
        """Reserve slots, some time, for a job that waits for runs without a known end.

        As with the head of EASY, others may use the slots that it leaves over; and all of them, if
        all together are too few for it.
        """
        if size > self._most:
            return
        self._left = max(0, self._left - size)
        self.free = [min(free, self._left) for free in self.free]

    def _step(self, time: float) -> int:
        """The index of the step at `time`, made if there is none."""
        if time == math.inf:
            return len(self.times)
        index = bisect_right(self.times, time)
        if self.times[index - 1] < time:
            self.times.insert(index, time)
            self.free.insert(index, self.free[index - 1])
            return index
        return index - 1
