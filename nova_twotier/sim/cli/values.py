"""Reads the values of options; an error is one line that names the option."""

import math
from argparse import ArgumentTypeError
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

#: Upper bound of a load, to catch per cent.
MOST_LOAD = 10
#: Upper bound of the number of loads, to catch typos.
MOST_LOADS = 1000


def whole(least: int) -> Callable[[str], int]:
    """A whole number, at least this."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise ArgumentTypeError(f"{text!r} must be a whole number, {least} or more")
        return value

    return read


def seconds(text: str) -> float:
    """A time, 0 or more."""
    value = _number(text)
    if not 0 <= value < math.inf:
        raise ArgumentTypeError(f"{text!r} must be a number of seconds, 0 or more")
    return value


def run_time(text: str) -> float:
    """Seconds that a job runs, in all forms that `openstack twotier job create` takes."""
    from nova_twotier.core import durations

    try:
        return durations.run_time(text)
    except ValueError as wrong:
        raise ArgumentTypeError(str(wrong)) from None


def moment(text: str) -> float:
    """A time: seconds, 0 or more, or a date and time, which is UTC unless it says otherwise.

    It gives the seconds since the epoch.
    """
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        value = _number(text)
    else:
        # `20261124` is a date, too, but here it is seconds.
        value = _number(text) if text.isdecimal() else _epoch(when)
    if not 0 <= value < math.inf:
        raise ArgumentTypeError(
            f"{text!r} must be a number of seconds, 0 or more, or a time such as 2026-11-24T08:30"
        )
    return value


def estimates(text: str) -> str:
    """A source of estimates."""
    from nova_twotier.sim import estimates

    try:
        return estimates.check(text)
    except estimates.InvalidEstimates as error:
        raise ArgumentTypeError(str(error)) from None


def factor(text: str) -> float:
    """A number, 0 or more."""
    value = _number(text)
    if not 0 <= value < math.inf:
        raise ArgumentTypeError(f"{text!r} must be a number, 0 or more")
    return value


def load(text: str) -> float:
    """A load above 0; 0.7 offers 70 % of what the machine can do."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise ArgumentTypeError(f"{text!r} must be a load above 0, such as 0.7")
    if value > MOST_LOAD:
        raise ArgumentTypeError(
            f"{text!r} is {value:g} times what the machine can do; did you mean {value / 100:g}?"
        )
    return value


def loads(text: str) -> list[float]:
    """`0.5,0.7`, or `0.5:0.9:0.1` from first to last by step, both included."""
    if ":" not in text:
        return [load(word) for word in text.split(",")]
    try:
        # Decimal: 0.5 and twice 0.1 are 0.7 and no 0.7000000000000001.
        first, last, step = (Decimal(word) for word in text.split(":"))
        if not (0 < first <= last and step > 0 and (last - first) / step < MOST_LOADS):
            raise ValueError
    except (ValueError, InvalidOperation):
        raise ArgumentTypeError(f"{text!r} must be FIRST:LAST:STEP, such as 0.5:0.9:0.1") from None
    load(str(last))
    return [float(first + step * number) for number in range(int((last - first) / step) + 1)]


def utilisation(text: str) -> tuple[float, float]:
    """`LOW-HIGH`, both 0..1."""
    low, dash, high = text.partition("-")
    bounds = _number(low), _number(high if dash else low)
    if not 0 <= bounds[0] <= bounds[1] <= 1:
        raise ArgumentTypeError(f"{text!r} must be LOW-HIGH within 0 to 1, such as 0.4-1.0")
    return bounds


def share(text: str) -> float:
    """A number 0..1."""
    value = _number(text)
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} must be a number 0 to 1, such as 0.9")
    return value


def error(text: str) -> float | None:
    """A relative error 0..1, or `none`."""
    if text == "none":
        return None
    value = _number(text)
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} must be 'none' or a number 0 to 1, such as 0.1")
    return value


def span(text: str) -> tuple[int, int]:
    """`FIRST-LAST`, or one number."""
    first, dash, last = text.partition("-")
    bounds = whole(0)(first), whole(0)(last if dash else first)
    if bounds[0] > bounds[1]:
        raise ArgumentTypeError(f"{text!r} must be FIRST-LAST, such as 0-31")
    return bounds


def policy(text: str) -> str:
    """The name of a policy."""
    from nova_twotier.sim import variants

    return checked(text, variants.get)


def policies(text: str) -> list[str]:
    """Names of policies, each once."""
    return list(dict.fromkeys(policy(word) for word in text.split(",")))


def topology(text: str) -> str:
    """A network, as `network.topology` reads it."""
    from nova_twotier.sim import network

    return checked(text, network.topology)


def embedding(text: str) -> str:
    """The name of an embedding."""
    from nova_twotier.sim import rivals

    return checked(text, rivals.get)


def bandwidth(text: str) -> str:
    """What jobs ask for, as `Bandwidth.parse` reads it."""
    from nova_twotier.sim.workloads.bandwidth import Bandwidth

    return checked(text, Bandwidth.parse)


def classes(text: str) -> str:
    """The classes of service, as `classes.check` has it."""
    from nova_twotier.sim import classes

    return checked(text, classes.check)


def checked(text: str, read: Callable[[str], object]) -> str:
    """The text itself, if it can be read."""
    try:
        read(text)
    except ValueError as wrong:
        raise ArgumentTypeError(str(wrong)) from None
    return text


def condition(text: str) -> tuple[str, str]:
    """`COLUMN=VALUE`."""
    column, equals, value = text.partition("=")
    if not column or not equals:
        raise ArgumentTypeError(f"{text!r} must be COLUMN=VALUE, such as slots=2")
    return column, value


def reading(text: str) -> tuple[str, object]:
    """`FIELD=VALUE` of a progress model: a word, a number, or numbers with commas."""
    from nova_twotier.core import progress

    name, value = condition(text)
    given = value.split(",") if "," in value else value
    try:
        return name, getattr(progress.load({name: given}, repr(text)), name)
    except progress.InvalidModel as invalid:
        raise ArgumentTypeError(str(invalid)) from None


def _epoch(when: datetime) -> float:
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _number(text: str) -> float:
    """The number; NaN, which is within no bounds, if it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
