"""The manager's clock: the wall clock, but it does not jump when that is set.

Run times, time limits and pauses are differences of times. Were they taken from a wall clock that
is set forward by an hour, jobs would be ended at a walltime that they have not run.
"""

import time
from collections.abc import Callable

#: Seconds by which the wall clock may get ahead or behind between two polls, because it is slewed
#: or set by a little: it is followed. By more, it was set.
TOLERANCE = 1.0
#: It goes on while the machine is suspended, as the jobs do, which are on others.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def since_boot() -> float:
    """Seconds since the machine was booted; nobody can set it."""
    return time.clock_gettime(_STEADY)


class SteadyClock:
    """Seconds since the epoch; calling it tells them.

    :param wall: the clock that may be set.
    :param steady: one that cannot be set, of whatever origin.
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
        """Take over what little the wall clock differs by.

        :return: seconds by which it was set since, if it was; then this clock stays as it is until
            it is told to `jump`. Otherwise 0.
        """
        # It was read between these two instants: a pause of the process is no step.
        early, wall, late = self(), self._wall(), self()
        step = wall - min(max(wall, early), late)
        if abs(step) > TOLERANCE:
            return step
        self._ahead += step
        return 0.0

    def jump(self, step: float) -> None:
        """Go on from a time that is so many seconds later."""
        self._ahead += step
