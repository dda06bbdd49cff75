"""Meters the CPU utilisation of one foreground VM, and decides whether its slot is closed. Pure.

The live form of the threshold of TPDS 2013, section 3: a slot whose foreground VM uses 96 % of its
CPU or more takes no background VM.
"""

import math
from collections import deque
from dataclasses import dataclass

from nova_twotier.core.slots import THRESHOLD, cpu_points, is_hot

#: Parts of a second by which an interval between two readings may fall short of the window.
_SLACK = 1e-6
#: A slot that closes again this soon, in multiples of the samples after which it opened, opens only
#: after twice as many the next time, up to this multiple of `MeterRules.open_samples`.
_SOON, _LONGEST = 4, 16


@dataclass(frozen=True, slots=True)
class MeterRules:
    """When a measurement counts; see the options of group `[agent]`.

    The gap between both bounds, and the number of samples, keep a slot from opening and closing all
    the time (hysteresis). A VM that alternates slowly enough to close it again and again has to
    stay low for longer each time: others would be evicted whenever it closes.

    :param window: seconds over which utilisation is averaged.
    :param close_at: utilisation (0..1) at and above which a slot closes.
    :param close_samples: after so many samples in a row.
    :param open_below: utilisation below which a slot opens again.
    :param open_samples: after so many samples in a row; other news is published after as many.
    :param tolerance: points by which a measurement must differ from the ledger to be news.
    """

    window: float = 10.0
    close_at: float = THRESHOLD
    close_samples: int = 3
    open_below: float = 0.9
    open_samples: int = 10
    tolerance: int = 20


class Meter:
    """The CPU utilisation of one VM, averaged over a sliding window.

    Its slot is closed as the points in the ledger say, until enough samples contradict them.
    """

    def __init__(self, rules: MeterRules):
        self._rules = rules
        #: Whether the slot is closed to the background.
        self.closed = False
        #: CPU points from which on a VM closes its slot. Rounded: 100 * 0.55 is more than 55.
        self._least_hot = math.ceil(round(100 * rules.close_at, 6))
        #: The points that the ledger had at the last sample.
        self._held: int | None = None
        #: Utilisation 0..1; None until a whole window has passed.
        self.level: float | None = None
        #: Time and CPU seconds; the first one is as old as the window, or a little older.
        self._readings: deque[tuple[float, float]] = deque()
        #: Samples in a row with so high a level, so low a one, and one so far from the ledger.
        self._high = self._low = self._off = 0
        #: Low samples after which the slot opens, and the samples since it last did.
        self._open_after = rules.open_samples
        self._since_open: float = math.inf

    def add(self, at: float, cpu_time: float, cpus: int, held: int | None) -> None:
        """Take one sample.

        :param at: time in seconds, from any start.
        :param cpu_time: CPU seconds that the VM has used, from any start; less than at the last
            sample if it was started again meanwhile.
        :param cpus: how many CPUs it may use at once.
        :param held: its CPU points in the ledger; None if there are none.
        """
        if self._readings and cpu_time < self._readings[-1][1]:
            self._readings.clear()
        self._readings.append((at, cpu_time))
        self._follow(held)
        while len(self._readings) > 2 and self._readings[1][0] <= at - self._rules.window + _SLACK:
            self._readings.popleft()
        since, used = self._readings[0]
        if at - since < self._rules.window - _SLACK:
            return
        self.level = level = min(1.0, (cpu_time - used) / (at - since) / cpus)
        self._high = self._high + 1 if is_hot(level, self._rules.close_at) else 0
        self._low = self._low + 1 if level < self._rules.open_below else 0
        self._since_open += 1
        if self._high >= self._rules.close_samples:
            if not self.closed:
                self._be_patient()
            self.closed = True
        elif self.closed and self._low >= self._open_after:
            self.closed = False
            self._since_open = 0.0
        self._off = self._off + 1 if self._differs(held) else 0

    def news(self, held: int | None) -> int | None:
        """CPU points that the ledger should have instead of `held`; None if they may stay."""
        if self.level is None:
            return None
        hot = held is not None and held >= self._least_hot
        if hot == self.closed and self._off < self._rules.open_samples:
            return None
        return self._points if self._points != held else None

    def _follow(self, held: int | None) -> None:
        """Start from what the ledger says, also if somebody else has written it meanwhile."""
        if held != self._held and held is not None and (held >= self._least_hot) != self.closed:
            self.closed = held >= self._least_hot
            self._high = self._low = self._off = 0
        self._held = held

    def _be_patient(self) -> None:
        """Let a slot that closes again soon after it has opened stay closed for longer."""
        least = self._rules.open_samples
        soon = self._since_open < _SOON * self._open_after
        self._open_after = min(2 * self._open_after, _LONGEST * least) if soon else least

    def _differs(self, held: int | None) -> bool:
        return held is None or abs(self._points - held) > self._rules.tolerance

    @property
    def _points(self) -> int:
        """The level in points, as hot as the slot is closed. Placement knows no claim of 0."""
        points, least = cpu_points(self.level or 0.0), self._least_hot
        return max(1, max(points, least) if self.closed else min(points, least - 1))
