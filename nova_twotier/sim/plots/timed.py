"""What charts over time have in common: their window, and the unit of their time axis."""

from dataclasses import dataclass
from datetime import UTC, datetime

from nova_twotier.sim.plots import words


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A chart from `begin` to `end` (seconds).

    :param dated: whether times count from the epoch (1970, UTC), not from the start of a trace.
    :param clock: what the time axis shows, if it has no dates.
    """

    title: str
    begin: float
    end: float
    dated: bool = False
    clock: str = "time"

    @property
    def unit(self) -> tuple[str, float]:
        """The unit of the time axis, and the seconds in it."""
        return words.unit(self.end - self.begin)

    @property
    def heading(self) -> str:
        """The title, with the dates of the window if it has any."""
        if not self.dated:
            return self.title
        return f"{self.title}, {self.moment(self.begin)} to {self.moment(self.end)} UTC"

    @property
    def axis(self) -> str:
        """The title of the time axis."""
        return "time (UTC)" if self.dated else f"{self.clock} ({self.unit[0]})"

    def moment(self, time: float) -> str:
        """A time in words: with its date, or in seconds."""
        if not self.dated:
            return f"{time:.0f} s"
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S")
