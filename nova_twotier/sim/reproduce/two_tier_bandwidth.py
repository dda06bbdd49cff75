"""Our own study: what a second tier gains where bandwidth is guaranteed, and what that costs it.

No paper has both, so there is no figure to compare with. Traces, network and bandwidths are those
of Symmetry 2018.
"""

from collections.abc import Iterator
from dataclasses import replace

from nova_twotier.sim import background_use
from nova_twotier.sim.background_use import BackgroundPoint
from nova_twotier.sim.reproduce import archive
from nova_twotier.sim.reproduce.claims import Claim
from nova_twotier.sim.reproduce.experiment import Experiment, Plot, Run, Settings, Table
from nova_twotier.sim.reproduce.measures import at_most_times
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.reproduce.symmetry_setting import (
    BANDWIDTH,
    BASE,
    JOBS,
    NARROW,
    NARROWS,
    NETWORKS,
    NODES,
    TRACES,
    TREE,
)

#: The whole fat-tree, and one whose links up from the edge switches are oversubscribed.
_NETWORKS = {name: NETWORKS[name] for name in ("", NARROW)}
PLACES = tuple(trace + network for network in _NETWORKS for trace in TRACES)

ONE_TIER, SHORTEST = "bgmbf", "bgmbf-sdf"
TWO_TIERS = ("amcbf", "cmcbf", "amcbf-deadline")
#: AMCBF on the same network with hosts that have no background, and with two tiers and no network.
NO_BACKGROUND, NO_NETWORK = "amcbf, one tier", "amcbf, no network"
SCENARIOS = {
    **{name: replace(BASE, policy=name) for name in (ONE_TIER, SHORTEST, *TWO_TIERS)},
    NO_BACKGROUND: replace(BASE, policy="amcbf", tiers=1),
    NO_NETWORK: replace(BASE, policy="amcbf", bandwidth=None),
}

WAIT, SLOWDOWN = "average_wait_seconds", "average_bounded_slowdown"
LONGEST, MIGRATIONS = "maximum_wait_seconds", "migrations_per_job"
#: Columns of the tables, and what makes their unit.
_COLUMNS = {
    "average wait (min)": (WAIT, 60),
    "average response (min)": ("average_response_seconds", 60),
    "bounded slowdown": (SLOWDOWN, 1),
    "maximum wait (h)": (LONGEST, 3600),
    "utilisation (%)": ("utilisation", 0.01),
    "started in the background (%)": (background_use.STARTED, 0.01),
    "background slot-hours per 100 of work": (background_use.HELD, 0.01),
    "migrations a job": (MIGRATIONS, 1),
    "evictions a job": ("evictions_per_job", 1),
}
#: What is aimed at: the metric as a part of BgMBF's, at most.
AIMS = {
    WAIT: (1.0, "average wait"),
    SLOWDOWN: (1.0, "average bounded slowdown"),
    LONGEST: (1.25, "maximum wait"),
}
#: What guaranteed bandwidth may cost AMCBF: the average wait as a multiple of that without.
PRICE = 1.25


def _runs(settings: Settings) -> list[Run]:
    """:raises archive.MissingTraces: if a trace is not there."""
    paths = archive.find(settings.traces, TRACES)
    return [
        Run(
            series,
            trace + network,
            BackgroundPoint(
                str(path.resolve()),
                replace(scenario, topology=None if series == NO_NETWORK else topology, seed=seed),
                load=load,
                nodes=NODES,
                head=min(JOBS, settings.head or JOBS),
            ),
        )
        for network, topology in sorted(_NETWORKS.items(), reverse=True)
        for trace, path in paths.items()
        for load in sorted(settings.loads, reverse=True)
        for seed in range(settings.seeds)
        for series, scenario in SCENARIOS.items()
    ]


def _tables(results: Results, _settings: Settings) -> Iterator[Table]:
    for place in PLACES:
        runs = results.runs[results.runs["place"] == place]
        means = runs.groupby(["load", "series"])[
            [metric for metric, _unit in _COLUMNS.values()]
        ].mean()
        rows = {
            f"{load:g}, {series}": [
                means.loc[(load, series), metric] / unit for metric, unit in _COLUMNS.values()
            ]
            for load in sorted(runs["load"].unique())
            for series in SCENARIOS
        }
        yield Table(place, tuple(_COLUMNS), rows)


def _compared(place: str, series: str, base: str, metric: str, aim: float, words: str) -> Claim:
    return Claim(
        f"{place}: {words}",
        "aim",
        aim,
        f"at most {aim:g} of the other's at every load, means over the seeds; measured: the "
        "greatest ratio",
        at_most_times(aim, series, base, metric, place=place),
        unit="times",
    )


def _claims(place: str) -> Iterator[Claim]:
    for metric, (aim, name) in AIMS.items():
        for policy in TWO_TIERS:
            words = f"{policy}'s {name} against {ONE_TIER}'s"
            yield _compared(place, policy, ONE_TIER, metric, aim, words)
    for series, base, aim, words in (
        ("amcbf-deadline", SHORTEST, 1.0, f"amcbf-deadline's average wait against {SHORTEST}'s"),
        ("amcbf", NO_BACKGROUND, 1.0, "amcbf's average wait against that without a background"),
        ("amcbf", NO_NETWORK, PRICE, "amcbf's average wait against that without a network"),
    ):
        yield _compared(place, series, base, WAIT, aim, words)


STUDY = Experiment(
    name="two-tier-bandwidth",
    source="A study of our own",
    about="what a second tier gains where bandwidth is guaranteed, on the traces of Symmetry 2018",
    runs=_runs,
    claims=tuple(claim for place in PLACES for claim in _claims(place)),
    plots=tuple(
        Plot(place, metric, logarithmic)
        for place in PLACES
        for metric, logarithmic in ((WAIT, True), (SLOWDOWN, True), (MIGRATIONS, False))
    ),
    tables=_tables,
    notes=(
        "The run times are the same in all rows: the average response differs from row to row by "
        "as much as the average wait.",
        f"'{NO_BACKGROUND}': hosts without background slots, so that only the order of jobs and "
        f"who may evict whom are AMCBF's. '{NO_NETWORK}': two tiers, and nobody asks for "
        "bandwidth.",
        "A background job that is promoted to other hosts counts as evicted and migrated where "
        "bandwidth is guaranteed, since all of its links move at once; without a network it "
        "counts as migrated only. Either costs it 20 s.",
        "The aims were set after a first look at load 0.8 with one seed.",
        TREE,
        NARROWS,
        BANDWIDTH,
    ),
    progress="tpds",
    against="aim",
)
