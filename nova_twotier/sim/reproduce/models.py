"""Runs on the papers' model workloads: series by loads by seeds."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from nova_twotier.sim import sweep
from nova_twotier.sim.reproduce.experiment import Plot, Run, Settings
from nova_twotier.sim.scenario import Scenario

SURROGATE = (
    "The source of the Feitelson model is not to be had: its workload is a surrogate with the "
    "properties that the papers state, and results with it are qualitative."
)
REFIT = (
    "The constants of the Jann model are fitted anew to the trace that its authors used, since "
    "the published ones are not to be had."
)
#: Offered load at which the queue never empties.
SATURATION = 2.0


def runs(
    settings: Settings,
    sources: Mapping[str, str],
    scenarios: Mapping[str, Scenario],
    *,
    hidden: Iterable[str] = (),
) -> list[Run]:
    """Every series on every workload, load and seed; runs on the same workload are neighbours.

    :param sources: of each place; `{jobs}` stands for the number of jobs.
    :param hidden: series that serve claims only.
    """
    return [
        Run(series, place, point(settings, source, scenario, load, seed), series not in hidden)
        for seed in range(settings.seeds)
        for place, source in sources.items()
        for load in sorted(settings.loads, reverse=True)
        for series, scenario in scenarios.items()
    ]


def point(
    settings: Settings, source: str, scenario: Scenario, load: float, seed: int
) -> sweep.Point:
    return sweep.Point(source, replace(scenario, seed=seed), load=load, head=settings.head)


def plots(metrics: Mapping[str, bool], places: Iterable[str]) -> tuple[Plot, ...]:
    """A plot of each metric and place; the metrics say whether their axis is logarithmic."""
    return tuple(
        Plot(place, metric, logarithmic)
        for place in places
        for metric, logarithmic in metrics.items()
    )
