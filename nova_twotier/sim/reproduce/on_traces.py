"""For studies: simulates scenarios on the archive's traces, and tabulates means over the seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nova_twotier.sim import sweep, variants
from nova_twotier.sim.reproduce import archive
from nova_twotier.sim.reproduce.experiment import Run, Settings, Table
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.scenario import Scenario


def runs(
    settings: Settings,
    places: Sequence[str],
    scenarios: Mapping[str, Scenario],
    kind: type[sweep.Point],
    **fields: Any,
) -> list[Run]:
    """A run of each scenario on each trace, with every seed if it draws anything at random.

    :param places: the papers' names of the traces.
    :param scenarios: by series.
    :param kind: of the points; they get these other `fields`, too.
    :raises archive.MissingTraces: if a trace is not there.
    """
    paths = archive.find(settings.traces, {place: archive.TRACES[place] for place in places})
    fields = {"head": settings.head} | fields
    return [
        Run(
            series,
            place,
            kind(
                str(paths[place].resolve()),
                replace(scenario, seed=seed),
                nodes=archive.TRACES[place].nodes,
                **fields,
            ),
        )
        for place in places
        for series, scenario in scenarios.items()
        for seed in range(settings.seeds if variants.get(scenario.policy).tiers > 1 else 1)
    ]


def table(results: Results, place: str, columns: Mapping[str, tuple[str, float]]) -> Table:
    """Means over the seeds, a row a series.

    :param columns: the metric of each, and what makes its unit.
    """
    of_series = results.runs[results.runs["place"] == place].groupby("series", sort=False)
    means = of_series[[metric for metric, _unit in columns.values()]].mean()
    rows: dict[str, Sequence[float | str]] = {
        str(series): [row[metric] / unit for metric, unit in columns.values()]
        for series, row in means.iterrows()
    }
    return Table(place, tuple(columns), rows)
