"""Durations as people write them."""

import re

#: The longest, in seconds: about 30 years.
LONGEST = 1e9
_FORMS = (
    "give seconds, or a time such as 90m, 1h30m, 2d, 1:30:00 (hours:minutes:seconds) or 1-12:00 "
    "(days-hours:minutes)"
)
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_CLOCK = re.compile(r"(?:(?P<d>\d+)-)?(?P<h>\d+):(?P<m>[0-5]?\d):(?P<s>[0-5]?\d)")
#: Without seconds only after days: `1:30` alone is ambiguous.
_DAYS = re.compile(r"(?P<d>\d+)-(?P<h>\d+):(?P<m>[0-5]?\d)(?P<s>)")
_WORDS = re.compile(r"(?=.)" + "".join(rf"(?:(?P<{unit}>\d+(?:\.\d+)?){unit})?" for unit in _UNITS))


class TooLong(ValueError):
    """Of no time that a clock or a calendar will show."""


class NoTime(ValueError):
    """0, which other batch systems take for "no limit"."""


def seconds(text: str) -> float:
    """Parse a duration into seconds: `5400`, `90m`, `1h30m`, `1:30:00`, `1-12:00`.

    :raises TooLong: for more than 30 years.
    :raises ValueError: for any other form, also for `1:30`, which is ambiguous.
    """
    found = _seconds(text.strip().lower())
    if found > LONGEST:
        raise TooLong(f"{text!r} is too long: give {LONGEST:.0f} seconds, 30 years, or less")
    return found


def run_time(text: str) -> float:
    """Parse a run time, or a limit of it, into seconds; it must be more than 0.

    :raises NoTime: for 0.
    :raises ValueError: as `seconds` does.
    """
    if found := seconds(text):
        return found
    raise NoTime(f"{text!r} is not a run time: give more than 0")


def _seconds(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    found = _CLOCK.fullmatch(text) or _DAYS.fullmatch(text) or _WORDS.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a time: {_FORMS}")
    return sum(float(found[unit] or 0) * worth for unit, worth in _UNITS.items())


def clock(elapsed: float) -> str:
    """Hours, minutes and seconds, such as 1:02:03."""
    minutes, rest = divmod(int(elapsed), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
