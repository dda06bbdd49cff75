"""Argument types: convert typed text into API values, or fail with one line about the mistake."""

import argparse
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from nova_twotier.core import durations
from nova_twotier.core.qos import Qos

#: Classes of service.
CLASSES = [str(qos) for qos in Qos]
#: Help of an argument that names a job.
JOB = "number, name or uuid of a job, or the beginning of its uuid"

#: Priorities go from this with a minus sign to this.
MOST_PRIORITY = 1000
#: Help of the option `--priority`.
PRIORITY = (
    "the waiting jobs of your project share out their places in the queue by it, the highest "
    f"first: a whole number from -{MOST_PRIORITY} to {MOST_PRIORITY} (default: 0)"
)


def whole(text: str, least: int = 1) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
    return int(text)


def whole_or_zero(text: str) -> int:
    return whole(text, 0)


def port(text: str) -> int:
    """A port to listen on; 0 is any that is free."""
    if not text.isdecimal() or int(text) >= 2**16:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, such as 8783")
    return int(text)


def priority(text: str) -> int:
    """A job's priority in its project."""
    digits = text.removeprefix("-").removeprefix("+")
    if digits.isdecimal() and int(digits) <= MOST_PRIORITY:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"{text!r}: give a whole number from -{MOST_PRIORITY} to {MOST_PRIORITY}; of your "
        "project's waiting jobs, those with higher ones come first (default: 0)"
    )


def mbps(text: str) -> float:
    """A bandwidth in Mbit/s."""
    value = _number(text)
    if value is None or value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of Mbit/s, such as 100")
    return value


def cpu(text: str) -> float | list[float]:
    """A CPU utilisation, or one for each process."""
    values = [_share(word) for word in text.split(",")]
    return values if len(values) > 1 else values[0]


def _share(text: str) -> float:
    value = _number(text)
    if value is not None and 0 <= value <= 1:
        return value
    hint = f"; did you mean {value / 100:g}?" if value is not None and 2 <= value <= 100 else ""
    raise argparse.ArgumentTypeError(f"{text!r}: give numbers 0 to 1, separated by commas{hint}")


def _number(text: str) -> float | None:
    """The number; None if it is none, or not a finite one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def duration(text: str) -> float:
    """A duration, in seconds."""
    try:
        return durations.seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run_time(text: str, otherwise: str = "leave the option out") -> float:
    """How long a job may run, or is expected to, in seconds.

    :param otherwise: what to do if the time is not known, or without a limit.
    """
    try:
        return durations.run_time(text)
    except durations.NoTime as error:
        raise argparse.ArgumentTypeError(f"{error}, or {otherwise}") from None
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def moment(text: str) -> str:
    """A time with its zone, as the API has it; also a duration, counted back from now."""
    return _moment(
        text,
        "a time with its zone, such as 2026-01-31T12:00:00Z, or how long ago it is, such as "
        "90m, 12h or 2d",
    )


def day_or_moment(text: str) -> str:
    """Parse a day of UTC (its beginning), or whatever `moment` takes, into a time for the API."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).isoformat()
    except ValueError:
        pass
    return _moment(
        text,
        "a day of UTC such as 2026-01-31, a time with its zone such as 2026-01-31T12:00:00Z, "
        "or how long ago it is, such as 12h or 7d",
    )


def _moment(text: str, forms: str) -> str:
    """Parse a time with its zone, or a duration before now, into a time for the API.

    :param forms: what the message gives as allowed if the text is neither.
    """
    # Digits alone may be meant as a date.
    if text[-1:].isalpha():
        try:
            return (datetime.now(UTC) - timedelta(seconds=durations.seconds(text))).isoformat()
        except durations.TooLong as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        except ValueError:
            pass
    try:
        time = datetime.fromisoformat(text.upper())
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text!r}: give {forms}")
    return time.isoformat()


def words(text: str, known: Sequence[str]) -> list[str]:
    """Some of the known words, separated by commas."""
    given = text.split(",")
    if wrong := [word for word in given if word not in known]:
        raise argparse.ArgumentTypeError(
            f"{wrong[0]!r}: give one or more of {', '.join(known)}, separated by commas"
        )
    return list(dict.fromkeys(given))


def add_all_projects(parser: argparse.ArgumentParser, what: str = "of all projects") -> None:
    """Add the option `--all-projects`.

    :param what: what it does, for the help.
    """
    parser.add_argument(
        "--all-projects", action="store_true", default=None, help=f"{what}; for administrators"
    )
