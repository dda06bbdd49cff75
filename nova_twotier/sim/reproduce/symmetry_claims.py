"""Measures of claims that only Symmetry 2018 makes: each function makes one."""

import math
from collections.abc import Sequence

import pandas

from nova_twotier.sim.reproduce.claims import UNTESTED, Finding, Measure
from nova_twotier.sim.reproduce.results import Results


def improved_at(
    at: float, series: str, rival: str, metric: str, least: float, *, place: str
) -> Measure:
    """By how many per cent the metric is above the rival's at a point; whether by `least`."""

    def measure(results: Results) -> Finding:
        means = results.means(metric, place, lambda load: load == at)
        if means.empty:
            return UNTESTED
        ours = (100 * (means[series] / means[rival] - 1)).mean()
        return _finding(ours, ours >= least)

    return measure


def margin_grows(series: str, rival: str, metric: str, *, place: str) -> Measure:
    """Whether the margin over the rival is wider in the upper half of the points.

    Ours: by how many percentage points of a metric that is a fraction.
    """

    def measure(results: Results) -> Finding:
        means = results.means(metric, place).droplevel("place").sort_index()
        margin = 100 * (means[series] - means[rival]).dropna()
        if len(margin) < 2:
            return UNTESTED
        half = len(margin) // 2
        ours = margin.iloc[-half:].mean() - margin.iloc[:half].mean()
        return _finding(ours, ours > 0)

    return measure


def falls(series: str, metric: str, *, place: str, most: float) -> Measure:
    """Whether the metric falls from point to point: Spearman's correlation, `most` at most."""

    def measure(results: Results) -> Finding:
        points = results.means(metric, place)[series].dropna()
        at = pandas.Series(points.index.get_level_values("load"), index=points.index)
        ours = points.corr(at, method="spearman")
        return _finding(ours, ours <= most)

    return measure


def descends_slower(series: str, rivals: Sequence[str], metric: str, *, place: str) -> Measure:
    """Whether the metric loses less from the first point to the last than with every rival.

    Ours: the loss, as a part of the least loss of a rival.
    """

    def measure(results: Results) -> Finding:
        means = results.means(metric, place).droplevel("place").sort_index()
        if len(means) < 2:
            return UNTESTED
        losses = means.iloc[0] - means.iloc[-1]
        least = losses[list(rivals)].min()
        return _finding(losses[series] / least, losses[series] < least) if least > 0 else UNTESTED

    return measure


def near_each_other(group: Sequence[str], outsider: str, metric: str, *, place: str) -> Measure:
    """Whether the group's metrics are nearer to each other than any is to the outsider's.

    Ours: the greatest difference in the group, as a part of the least to the outsider; averages
    over the points.
    """

    def measure(results: Results) -> Finding:
        means = results.means(metric, place).mean()
        inside = means[list(group)].max() - means[list(group)].min()
        outside = (means[outsider] - means[list(group)]).abs().min()
        return _finding(inside / outside, inside < outside) if outside > 0 else UNTESTED

    return measure


def costs_less(series: str, seconds: float, limit: float, *, place: str) -> Measure:
    """Whether migrations of so many seconds add at most `limit` of the response time anywhere."""

    def measure(results: Results) -> Finding:
        migrations = results.means("migrations_per_job", place)[series]
        responses = results.means("average_response_seconds", place)[series]
        ours = (seconds * migrations / responses).max()
        return _finding(ours, ours <= limit)

    return measure


def _finding(ours: float, holds: bool) -> Finding:
    return UNTESTED if math.isnan(ours) else Finding(float(ours), bool(holds))
