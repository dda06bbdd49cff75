"""The manager's clock: follows the wall clock, but does not jump when that is set.

Run times, time limits and pauses are differences between times. With the wall clock itself, setting
it forward by an hour would end jobs that have not used up their walltime.
"""

import time
from collections.abc import Callable

#: Seconds. A smaller difference from the wall clock between two polls is slewing, and followed; a
#: larger one means that somebody set the wall clock.
TOLERANCE = 1.0
#: Keeps counting while this machine is suspended: the jobs run on other machines.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def since_boot() -> float:
    """Seconds since the machine booted; this clock cannot be set."""
    return time.clock_gettime(_STEADY)


class SteadyClock:
    """A callable that returns seconds since the epoch.

    :param wall: seconds since the epoch; this clock may be set.
    :param steady: seconds since any origin; this clock cannot be set.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = since_boot,
    ):
        self._wall, self._steady = wall, steady
        self._ahead = wall() - steady()

    def __call__(self) -> float:
        return self._steady() + self._ahead

    def follow(self) -> float:
        """Adopt a small difference from the wall clock.

        :return: 0, or the seconds by which the wall clock was set; this clock then stays as it is
            until `jump` is called.
        """
        # The wall clock is read between two readings of this one, so that a pause of the process
        # does not count as a step.
        early, wall, late = self(), self._wall(), self()
        step = wall - min(max(wall, early), late)
        if abs(step) > TOLERANCE:
            return step
        self._ahead += step
        return 0.0

    def jump(self, step: float) -> None:
        """Advance by `step` seconds."""
        self._ahead += step
