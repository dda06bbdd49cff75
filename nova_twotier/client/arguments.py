"""Argument types: convert typed text into API values, or fail with one line about the mistake."""

import argparse
import math

from nova_twotier.client import durations

#: Help of an argument that names a job.
JOB = "number, name or uuid of a job, or the beginning of its uuid"


def whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def mbps(text: str) -> float:
    """A bandwidth in Mbit/s."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of Mbit/s, such as 100")
    return value


def cpu(text: str) -> float | list[float]:
    """A CPU utilisation, or one for each process."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}: give numbers 0 to 1, separated by commas"
        ) from None
    return values if len(values) > 1 else values[0]


def duration(text: str) -> float:
    """A duration, in seconds."""
    try:
        return durations.seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
