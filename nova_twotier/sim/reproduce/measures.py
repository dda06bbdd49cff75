"""Measures of claims: each function makes one.

A point is a workload at a load; "in most cases" is at more than half of the points and metrics.
"""

import itertools
import math
from collections.abc import Mapping, Sequence

import pandas

from nova_twotier.sim.reproduce.claims import UNTESTED, Finding, Measure
from nova_twotier.sim.reproduce.results import Loads, Results

AVERAGES = ("average_wait_seconds", "average_bounded_slowdown")
EXTREMES = ("maximum_wait_seconds", "maximum_bounded_slowdown")
#: TPDS 2013 looks at the response time where JSS 2015 looks at the wait.
RESPONSES = ("average_response_seconds", "average_bounded_slowdown")


def better(
    winners: Sequence[str],
    losers: Sequence[str],
    metrics: Sequence[str],
    *,
    place: str | None = None,
    loads: Loads | None = None,
    most: bool = False,
    higher: bool = False,
) -> Measure:
    """Whether each winner is better than each loser everywhere, or in most cases.

    :param higher: whether the higher value is the better one.
    """

    def measure(results: Results) -> Finding:
        wins, total, lost = _wins(results, winners, losers, metrics, place, loads, higher)
        if not total:
            return UNTESTED
        holds = 2 * wins > total if most else wins == total
        return Finding(f"{wins} of {total}", holds, () if holds else lost)

    return measure


def improvement(
    series: str,
    base: str,
    metric: str,
    paper: float,
    within: float,
    *,
    place: str | None = None,
) -> Measure:
    """By how many per cent the metric is below the base's, on average over the points.

    :param within: percentage points from the paper's number in which the claim holds.
    """

    def measure(results: Results) -> Finding:
        ours = _improvement(results, series, base, metric, place)
        return _finding(ours, abs(ours - paper) <= within)

    return measure


def at_least(
    least: float, series: str, base: str, metric: str, *, place: str | None = None
) -> Measure:
    """Whether the metric is on average below the base's, by at least so many per cent."""

    def measure(results: Results) -> Finding:
        ours = _improvement(results, series, base, metric, place)
        return _finding(ours, ours >= least and ours > 0)

    return measure


def more_improved(
    series: str, base: str, by: str, than: str, *, place: str | None = None
) -> Measure:
    """Whether one metric is improved by more than another; the difference in percentage points."""

    def measure(results: Results) -> Finding:
        ours, other = (_improvement(results, series, base, m, place) for m in (by, than))
        gain = ours - other
        return _finding(gain, gain > 0)

    return measure


def more_improved_in(series: str, base: str, metric: str, place: str, than: str) -> Measure:
    """The same for one metric in two places."""

    def measure(results: Results) -> Finding:
        ours, other = (_improvement(results, series, base, metric, at) for at in (place, than))
        gain = ours - other
        return _finding(gain, gain > 0)

    return measure


def gain(
    series: Sequence[str], base: str, metric: str, paper: float, within: float, *, place: str
) -> Measure:
    """By how many per cent the best of the series is above the base at most.

    :param within: percentage points from the paper's number in which the claim holds.
    """

    def measure(results: Results) -> Finding:
        means = results.means(metric, place)
        ours = (100 * (means[list(series)].max(axis=1) / means[base] - 1)).max()
        return _finding(ours, abs(ours - paper) <= within)

    return measure


def needed(series: Sequence[str], base: str, paper: float, *, place: str) -> Measure:
    """Whether the best of the series can use `paper` per cent more CPU cycles than a base does.

    Without a background, the base uses the more the fewer slots are idle. Ours: the utilisation
    from which the best is so much higher, as a multiple of the base's with no slot idle.
    """

    def measure(results: Results) -> Finding:
        used = results.means("utilisation", place)
        full = used[base] / results.means("allocation_share", place)[base]
        ours = (used[list(series)].max(axis=1) / (1 + paper / 100) / full).max()
        return _finding(ours, ours <= 1)

    return measure


def at_most_times(
    limit: float,
    series: str,
    base: str,
    metric: str,
    *,
    place: str | None = None,
    loads: Loads | None = None,
) -> Measure:
    """Whether the metric is nowhere more than `limit` times the base's; the greatest ratio."""

    def measure(results: Results) -> Finding:
        means = results.means(metric, place, loads)
        if not {series, base}.issubset(means):
            return UNTESTED
        ours = (means[series] / means[base]).max()
        return _finding(ours, ours <= limit)

    return measure


def never_above(limit: float, series: str, base: str, metric: str, *, place: str) -> Measure:
    """Whether the metric is with no seed more than `limit` times the base's; the greatest ratio."""

    def measure(results: Results) -> Finding:
        runs = results.runs[results.runs["place"] == place]
        seeds = runs.pivot_table(index="seed", columns="series", values=metric)
        if not {series, base}.issubset(seeds):
            return UNTESTED
        ours = (seeds[series] / seeds[base]).max()
        return _finding(ours, ours <= limit)

    return measure


def better_in_pairs(
    pairs: Sequence[tuple[str, str]], metrics: Sequence[str], *, place: str
) -> Measure:
    """Whether the first of each pair of series has the lower metrics, at every point."""

    def measure(results: Results) -> Finding:
        wins = total = 0
        for metric in metrics:
            means = results.means(metric, place)
            for series, base in pairs:
                if {series, base}.issubset(means):
                    margin = (means[series] - means[base]).dropna()
                    wins += int((margin < 0).sum())
                    total += len(margin)
        return Finding(f"{wins} of {total}", wins == total) if total else UNTESTED

    return measure


def only_above(limit: float, winner: str, loser: str, metric: str, *, place: str) -> Measure:
    """Whether the winner is better at some load above the limit and at none up to it.

    Ours: the first load at which it is. Runs on one side of the limit cannot tell, unless they
    show the winner better below it.
    """

    def measure(results: Results) -> Finding:
        means = results.means(metric, place)
        loads = means.index.get_level_values("load")
        first = loads[means[winner] < means[loser]].min()
        if first <= limit:
            return _finding(first, False)
        if not ((loads <= limit).any() and (loads > limit).any()):
            return UNTESTED
        return Finding("never", False) if math.isnan(first) else _finding(first, True)

    return measure


def ordered(series: Sequence[str], metric: str, *, place: str | None = None) -> Measure:
    """Whether the metric, averaged over the points, grows from each series to the next."""

    def measure(results: Results) -> Finding:
        means = results.means(metric, place)[list(series)].mean()
        steps = [after > before for before, after in itertools.pairwise(means)]
        if means.isna().any() or not steps:
            return UNTESTED
        return Finding(f"{sum(steps)} of {len(steps)} steps", all(steps))

    return measure


def grows(series: str, metric: str, *, place: str, least: float) -> Measure:
    """Whether the metric grows with the load: Spearman's correlation, from `least` on."""

    def measure(results: Results) -> Finding:
        points = results.means(metric, place)[series].dropna()
        loads = pandas.Series(points.index.get_level_values("load"), index=points.index)
        ours = points.corr(loads, method="spearman")
        return _finding(ours, ours >= least)

    return measure


def peaks_inside(series: str, metric: str, *, place: str) -> Measure:
    """Whether the metric is highest neither at the lowest nor at the highest load."""

    def measure(results: Results) -> Finding:
        points = results.means(metric, place)[series].dropna().droplevel("place").sort_index()
        if len(points) < 3:
            return UNTESTED
        peak = points.idxmax()
        return _finding(peak, points.index[0] < peak < points.index[-1])

    return measure


def larger_in(place: str, than: str, series: str, metric: str) -> Measure:
    """Whether the metric, averaged over the loads, is larger in one place; the ratio."""

    def measure(results: Results) -> Finding:
        ours, other = (results.means(metric, at)[series].mean() for at in (place, than))
        return _finding(ours / other, ours > other) if other > 0 else UNTESTED

    return measure


def holds_up_to(
    least: float,
    levels: Mapping[float, str],
    loser: str,
    metrics: Sequence[str],
    *,
    place: str,
) -> Measure:
    """The level up to which the series of every level is better in most cases, against `least`.

    :param levels: the series of each level, ascending.
    """

    def measure(results: Results) -> Finding:
        reached = None
        for level, series in levels.items():
            wins, total, _lost = _wins(results, [series], [loser], metrics, place, None, False)
            if not total:
                return UNTESTED
            if 2 * wins <= total:
                break
            reached = level
        return Finding("none", False) if reached is None else _finding(reached, reached >= least)

    return measure


def _finding(ours: float, holds: bool) -> Finding:
    """With plain types; NaN is what the runs cannot tell."""
    return UNTESTED if math.isnan(ours) else Finding(float(ours), bool(holds))


def _wins(
    results: Results,
    winners: Sequence[str],
    losers: Sequence[str],
    metrics: Sequence[str],
    place: str | None,
    loads: Loads | None,
    higher: bool,
) -> tuple[int, int, tuple[str, ...]]:
    """At how many points, metrics and pairs the winner is better, and how many there are.

    And the points at which it is not always: their loads, or the places where nothing is scaled.
    """
    wins = total = 0
    lost = set()
    for metric in metrics:
        means = results.means(metric, place, loads)
        for winner, loser in itertools.product(winners, losers):
            pair = means[[winner, loser]].dropna()
            margin = pair[winner] - pair[loser]
            won = margin > 0 if higher else margin < 0
            wins += int(won.sum())
            total += len(pair)
            lost.update(pair.index[~won])
    names = [at if math.isnan(load) else f"{load:g}" for at, load in sorted(lost)]
    return wins, total, tuple(dict.fromkeys(names))


def _improvement(results: Results, series: str, base: str, metric: str, place: str | None) -> float:
    """Per cent, on average over the points; NaN without any."""
    means = results.means(metric, place)
    # If no job waits, there is nothing to improve.
    return float((100 * (1 - means[series] / means[base].where(means[base] > 0))).mean())
