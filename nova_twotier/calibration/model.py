"""The model file: what a calibration found, as the simulator and the queue manager read it."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from nova_twotier.calibration.points import Point
from nova_twotier.calibration.threshold import threshold


class NoModel(Exception):
    """The points do not support a model; the message says what is missing."""


def model(
    points: Sequence[Point], mechanism: str, least_gain: float, conditions: Mapping[str, Any]
) -> dict[str, Any]:
    """The model of one mechanism, from its points with a verdict.

    Points count as often as they were measured, at whatever utilisation. What was not measured is
    left out, and then is that of TPDS 2013: the efficiency of parallel jobs with one CPU only, and
    the threshold unless all layouts show one. Of several, the lowest counts.

    :param conditions: under which it was measured, for the reader of the file.
    :raises NoModel: if no point of a single-process background has a verdict.
    """
    valid = [point for point in points if point.mechanism == mechanism and point.valid]
    layouts = dict.fromkeys(point.layout for point in points)
    single = [point.efficiency.median for point in valid if point.layout == "single"]
    parallel = [point.efficiency.median for point in valid if point.layout != "single"]
    if not single:
        raise NoModel(
            f"no point of {mechanism} with a single-process background has a verdict. Take the "
            "load off this host, or measure with more repetitions or longer turns"
        )
    found: dict[str, Any] = {
        "loss": _bounds(point.loss.median for point in valid),
        "eff_single": _bounds(single),
    }
    if len(parallel) > 1:
        clipped = [_share(value) for value in parallel]
        found["eff_parallel"] = [
            round(fmean(clipped), 4),
            round(stdev(clipped), 4),
            min(clipped),
            max(clipped),
        ]
    thresholds = [
        threshold(
            [each for each in points if (each.layout, each.mechanism) == (layout, mechanism)],
            least_gain,
        )
        for layout in layouts
    ]
    values = [each.value for each in thresholds if each.value is not None]
    if len(values) == len(thresholds):
        found["threshold"] = round(min(values), 3)
    found["conditions"] = {"mechanism": mechanism, **conditions}
    return found


def _bounds(values: Iterable[float]) -> list[float]:
    clipped = [_share(value) for value in values]
    return [min(clipped), max(clipped)]


def _share(value: float) -> float:
    """A part of a whole: what is measured is off by chance in both directions."""
    return round(min(1.0, max(0.0, value)), 4)
