"""The foreground utilisation from which on a background VM is not worth it."""

from collections.abc import Sequence
from dataclasses import dataclass

from nova_twotier.calibration.points import Point, Verdict


@dataclass(frozen=True)
class Threshold:
    """What the points of a mechanism in a layout say.

    :param worth_to: the highest utilisation up to which every point is worth it; None if not even
        the lowest is.
    :param not_worth_from: the lowest utilisation from which no point is worth it; None if the
        highest point is worth it, or is undecided.
    :param value: where the gain crosses the bound between these two; None unless both are shown
        and are neighbours.
    """

    worth_to: float | None
    not_worth_from: float | None
    value: float | None

    def __str__(self) -> str:
        if self.value is not None:
            return (
                f"{self.value:.3f} (worth it up to {self.worth_to:.2f}, not from "
                f"{self.not_worth_from:.2f} on)"
            )
        parts = []
        if self.worth_to is not None:
            parts.append(f"worth it up to {self.worth_to:.2f}")
        if self.not_worth_from is not None:
            parts.append(f"not worth it from {self.not_worth_from:.2f} on")
        return f"no verdict ({', '.join(parts) or 'no point is decided'})"


def threshold(points: Sequence[Point], least_gain: float) -> Threshold:
    """The threshold that points of one mechanism and one layout show.

    :param least_gain: the bound of the verdicts.
    """
    ordered = sorted(points, key=lambda point: point.utilisation)
    worth = 0
    while worth < len(ordered) and ordered[worth].verdict is Verdict.WORTH:
        worth += 1
    bad = len(ordered)
    while bad > worth and ordered[bad - 1].verdict is Verdict.NOT_WORTH:
        bad -= 1
    below = ordered[worth - 1] if worth else None
    above = ordered[bad] if bad < len(ordered) else None
    value = None
    if below and above and worth == bad:
        over, under = below.gain.median - least_gain, least_gain - above.gain.median
        part = over / (over + under)
        value = below.utilisation + part * (above.utilisation - below.utilisation)
    return Threshold(
        below.utilisation if below else None, above.utilisation if above else None, value
    )
