"""Times of the future as people write them."""

import argparse
import re
from datetime import UTC, datetime, timedelta

from nova_twotier.core import durations

_CLOCK = re.compile(r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)")
#: For help texts.
FORMS = (
    "2026-01-31T12:00 (in the time zone of this machine, or with another), 18:30 (the next one), "
    "now+2h, or 90m"
)


def parse(text: str) -> str:
    """Parse a time into one with a zone, for the API; without one, it is this machine's.

    :raises argparse.ArgumentTypeError: if it is none.
    """
    try:
        return _time(text.strip()).isoformat(timespec="seconds")
    except durations.TooLong as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time: give a time such as {FORMS}"
        ) from None


def _time(text: str) -> datetime:
    """:raises ValueError, OverflowError: if it is none."""
    lower = text.lower()
    if clock := _CLOCK.fullmatch(lower):
        return _next(int(clock["hour"]), int(clock["minute"]))
    if lower == "now":
        return datetime.now(UTC)
    # Digits alone may be meant as a date.
    if lower.startswith("now+") or lower[-1:] in ("s", "m", "h", "d"):
        later = timedelta(seconds=durations.seconds(lower.removeprefix("now+")))
        return datetime.now(UTC) + later
    time = datetime.fromisoformat(text.upper())
    if len(text) <= len("2026-01-31"):
        raise ValueError(text)  # a date alone: which time of it?
    return time.astimezone()


def _next(hour: int, minute: int) -> datetime:
    """The next time that the clocks here show this."""
    now = datetime.now(UTC).astimezone()
    naive = now.replace(hour=hour, minute=minute, second=0, microsecond=0, tzinfo=None)
    # In an autumn night, clocks show some times twice.
    for shown in (naive, naive.replace(fold=1)):
        if (time := shown.astimezone()) > now:
            return time
    # A day later by the clock, which may be 23 or 25 hours.
    return (naive + timedelta(days=1)).astimezone()
