"""A metric against the load, one curve a policy: what to draw, nothing of how.

Other curves have the same form: `axis`, `legend` and `remark` of a chart say what they show.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas

from nova_twotier.sim import classes, metrics
from nova_twotier.sim.plots import words
from nova_twotier.sim.plots.files import PlotError

#: Columns that are measurements, with those that only runs with classes of service have.
METRICS = (*metrics.names(), *classes.names())
#: Columns that may differ between the runs of one plot, besides what was measured.
FREE = {"policy", "load", "seed", "jobs", "rejected"}
#: The title of the horizontal axis, if it is the load.
LOAD = "offered load (fraction of the machine)"


@dataclass(frozen=True, slots=True)
class Curve:
    """Means over seeds and their spread (one standard deviation; 0 for a single run)."""

    policy: str
    loads: tuple[float, ...]
    means: tuple[float, ...]
    spreads: tuple[float, ...]

    @property
    def low(self) -> list[float]:
        """Lower edge of the band."""
        return [mean - spread for mean, spread in zip(self.means, self.spreads, strict=True)]

    @property
    def high(self) -> list[float]:
        """Upper edge of the band."""
        return [mean + spread for mean, spread in zip(self.means, self.spreads, strict=True)]


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything to draw."""

    title: str
    metric: str
    curves: tuple[Curve, ...]
    seeds: int
    logarithmic: bool = False
    axis: str = LOAD
    legend: str = "policy"
    remark: str = ""

    @property
    def label(self) -> str:
        """The title of the vertical axis."""
        return words.label(self.metric)

    @property
    def note(self) -> str:
        """What a point stands for."""
        if self.remark:
            return self.remark
        if self.seeds == 1:
            return "one run a point"
        spread = "whiskers" if self.whiskers else "band"
        return f"mean of {self.seeds} seeds, {spread}: one standard deviation"

    @property
    def whiskers(self) -> bool:
        """Whether whiskers show the spread: at a single load, a band has no width."""
        return self.seeds > 1 and all(len(curve.loads) == 1 for curve in self.curves)


def of(
    runs: pandas.DataFrame,
    metric: str,
    policies: Sequence[str] | None = None,
    *,
    title: str = "",
    logarithmic: bool = False,
    axis: str = LOAD,
) -> Chart:
    """The chart of a sweep's table.

    :param policies: those to draw, in this order; all of them by default.
    :raises PlotError: if the table has no such metric or policy, or mixes runs that differ in more
        than policy, load and seed, whose mean would mean nothing, or has no point of a policy.
    """
    _check(runs, metric, policies)
    policies = policies or sorted(runs["policy"].unique())
    runs = runs[runs["policy"].isin(policies)]
    _check_alike(runs)
    _check_points(runs, metric, policies)
    if logarithmic and not (runs[metric] > 0).any():
        raise PlotError(f"{metric} is never above 0: a logarithmic axis has no place for it")
    return Chart(
        title=title or _names(runs["workload"].unique()),
        metric=metric,
        curves=tuple(_curve(policy, runs[runs["policy"] == policy], metric) for policy in policies),
        seeds=runs["seed"].nunique(),
        logarithmic=logarithmic,
        axis=axis,
    )


def _check(runs: pandas.DataFrame, metric: str, policies: Sequence[str] | None) -> None:
    for column in ("policy", "workload", "load", "seed"):
        if column not in runs:
            raise PlotError(f"the table has no column {column!r}; it is not that of a sweep")
    known = [name for name in METRICS if name in runs]
    if metric not in known:
        raise PlotError(f"there is no metric {metric!r}; choose one of: {_names(known)}")
    present = set(runs["policy"])
    for policy in policies or ():
        if policy not in present:
            raise PlotError(f"the table has no policy {policy!r}, only {_names(sorted(present))}")


def _check_alike(runs: pandas.DataFrame) -> None:
    others = runs.columns.difference([*METRICS, *FREE])
    # What differs by workload is told by its name.
    for column in sorted(others, key=lambda name: name != "workload"):
        values = runs[column].unique()
        if len(values) > 1:
            raise PlotError(
                f"the table mixes runs of {column} {_names(values)}; "
                f"choose one with --where {column}=VALUE"
            )


def _check_points(runs: pandas.DataFrame, metric: str, policies: Sequence[str]) -> None:
    points = runs.dropna(subset=["load", metric])
    for policy in policies:
        if policy not in set(points["policy"]):
            raise PlotError(
                f"no run of {policy} has both a load and {metric}: jobs that arrive at once have "
                "no load, and without jobs there is nothing to measure"
            )


def _curve(policy: str, runs: pandas.DataFrame, metric: str) -> Curve:
    groups = runs.groupby("load")[metric]
    means = groups.mean()
    return Curve(
        policy=policy,
        loads=tuple(means.index),
        means=tuple(means),
        spreads=tuple(groups.std().fillna(0.0)),
    )


def _names(values) -> str:
    return ", ".join(str(value) for value in values)
