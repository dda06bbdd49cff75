"""Symmetry 2018, Figures 6 to 8: response time, bounded slowdown and migrations against load."""

from dataclasses import replace

from nova_twotier.sim.reproduce.claims import Claim
from nova_twotier.sim.reproduce.experiment import Experiment, Plot, Run, Settings
from nova_twotier.sim.reproduce.measures import AVERAGES, better, larger_in, more_improved_in
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.reproduce.symmetry_claims import costs_less, near_each_other
from nova_twotier.sim.reproduce.symmetry_setting import (
    BANDWIDTH,
    BASE,
    JOBS,
    LITERAL,
    NARROWS,
    NETWORKS,
    ON_TRACES,
    PLACES,
    TRACES,
    TREE,
    runs,
)
from nova_twotier.sim.reproduce.trials import MORE_SEEDS

WAIT, SLOWDOWN = AVERAGES
MIGRATIONS = "migrations_per_job"
#: "The migration cost in the cloud is around 20 s"; far less is a tenth.
COST, FAR_LESS = 20.0, 0.1

_OURS = {
    "BgMBF": replace(BASE, policy="bgmbf"),
    "BgMBFSDF": replace(BASE, policy="bgmbf-sdf"),
}
_PRINTED = {
    "BgMBF as printed": replace(BASE, policy="bgmbf-as-printed"),
    "BgMBFSDF as printed": replace(BASE, policy="bgmbf-sdf-as-printed"),
}
_OTHERS = {name: replace(BASE, policy=name.lower()) for name in ("FCFS", "SBF", "SDF")}

#: Figure 8: the most migrations at any load.
MOST = {
    trace + network: most
    for network in NETWORKS
    for trace, most in (("KTH-SP2", 350), ("NASA-iPSC", 200))
}

_RESPONSE = (
    "The paper's response time (equation 1) is from the arrival to the start: the wait. Ours "
    "counts what suspensions cost, too."
)
_FAIR = (
    "BgMBF and BgMBFSDF suspend the jobs that arrived later than the head of the queue. Algorithm "
    "2 as printed suspends all that were backfilled when they started, though all earlier arrivals "
    "may have started since; and a job that returns to its hosts at once has left them."
)


def _all_runs(settings: Settings) -> list[Run]:
    return runs(settings, _OTHERS | _OURS)


def _our_runs(settings: Settings) -> list[Run]:
    return runs(settings, _OURS | _PRINTED)


def _order(place: str, metric: str) -> tuple[Claim, ...]:
    """What is said of both metrics."""
    return (
        *(
            Claim(
                f"{place}: BgMBF outperforms {rival}",
                "section 5.3.2 (1)",
                "always",
                "at every load",
                better(("BgMBF",), (rival,), (metric,), place=place),
            )
            for rival in ("FCFS", "SBF")
        ),
        Claim(
            f"{place}: SBF is no improvement over FCFS",
            "section 5.3.2 (1)",
            "yes",
            "FCFS better at most loads",
            better(("FCFS",), ("SBF",), (metric,), place=place, most=True),
        ),
        Claim(
            f"{place}: BgMBFSDF is better than BgMBF",
            "section 5.3.2 (1)",
            "always",
            "at every load",
            better(("BgMBFSDF",), ("BgMBF",), (metric,), place=place),
        ),
        Claim(
            f"{place}: the differences among BgMBFSDF, SDF and BgMBF are small",
            "section 5.3.2 (1)",
            "yes",
            "averaged over the loads, less than that of any of them to FCFS; ours: as a part of it",
            near_each_other(("BgMBFSDF", "SDF", "BgMBF"), "FCFS", metric, place=place),
        ),
    )


def _fig8_numbers(results: Results, _settings: Settings) -> list[Number]:
    numbers = []
    for place, paper in MOST.items():
        for series in ("BgMBF as printed", "BgMBF"):
            found = results.runs[
                (results.runs["place"] == place) & (results.runs["series"] == series)
            ]
            totals = (found[MIGRATIONS] * found["jobs"]).groupby(found["seed"]).max()
            numbers.append(Number.of("most migrations at any load", place, series, paper, totals))
    return numbers


def _migrates_less(place: str, suffix: str) -> Claim:
    less, more = f"BgMBFSDF{suffix}", f"BgMBF{suffix}"
    return Claim(
        f"{place}: {less} migrates less than {more}",
        "section 5.3.2",
        "mostly",
        "at most loads",
        better((less,), (more,), (MIGRATIONS,), place=place, most=True),
    )


def _on_traces(network: str) -> tuple[Claim, ...]:
    """What is said of one trace, or of the difference between them."""
    kth, nasa = (trace + network for trace in TRACES)
    return (
        Claim(
            f"{nasa}: SDF outperforms BgMBFSDF and BgMBF",
            "section 5.3.2 (2)",
            "yes",
            "at most loads",
            better(("SDF",), ("BgMBFSDF", "BgMBF"), (WAIT,), place=nasa, most=True),
        ),
        Claim(
            f"{kth}: SDF is the worst of the three",
            "section 5.3.2 (2)",
            "yes",
            "BgMBFSDF and BgMBF better at most loads",
            better(("BgMBFSDF", "BgMBF"), ("SDF",), (WAIT,), place=kth, most=True),
        ),
        Claim(
            f"BgMBFSDF improves BgMBF by more for {nasa} than for {kth}",
            "section 5.3.2 (2)",
            "yes",
            "more per cent, on average over the loads",
            more_improved_in("BgMBFSDF", "BgMBF", WAIT, nasa, kth),
            unit="points",
        ),
    )


def _migrations(network: str) -> Claim:
    kth, nasa = (trace + network for trace in TRACES)
    return Claim(
        f"{nasa} needs more migrations than {kth}",
        "section 5.3.2",
        "yes",
        "BgMBF as printed, averaged over the loads; ours: the ratio",
        larger_in(nasa, kth, "BgMBF as printed", MIGRATIONS),
        unit="times",
    )


FIG6 = Experiment(
    name="symmetry2018-fig6",
    source="Symmetry 2018, Figure 6",
    about="average response time against load",
    runs=_all_runs,
    claims=(
        *(claim for place in PLACES for claim in _order(place, WAIT)),
        *(claim for network in NETWORKS for claim in _on_traces(network)),
    ),
    plots=tuple(Plot(place, WAIT, logarithmic=True) for place in PLACES),
    notes=(_RESPONSE, _FAIR, BANDWIDTH, TREE, NARROWS, LITERAL),
    trials=(MORE_SEEDS,),
)

FIG7 = Experiment(
    name="symmetry2018-fig7",
    source="Symmetry 2018, Figure 7",
    about="average bounded slowdown against load",
    runs=_all_runs,
    claims=tuple(claim for place in PLACES for claim in _order(place, SLOWDOWN)),
    plots=tuple(Plot(place, SLOWDOWN, logarithmic=True) for place in PLACES),
    notes=(_FAIR, BANDWIDTH, TREE, NARROWS, LITERAL),
    trials=(MORE_SEEDS,),
)

FIG8 = Experiment(
    name="symmetry2018-fig8",
    source="Symmetry 2018, Figure 8",
    about="migrations against load",
    runs=_our_runs,
    numbers=_fig8_numbers,
    claims=(
        *(_migrates_less(place, suffix) for place in PLACES for suffix in (" as printed", "")),
        *map(_migrations, NETWORKS),
        *(
            Claim(
                f"{place}: migrations cost far less than the average response time",
                "section 5.3.2",
                FAR_LESS,
                f"{COST:g} s a migration add at most {FAR_LESS:g} of the response time at any load",
                costs_less("BgMBF as printed", COST, FAR_LESS, place=place),
            )
            for place in PLACES
        ),
    ),
    plots=tuple(Plot(place, MIGRATIONS, logarithmic=False) for place in PLACES),
    notes=(
        _FAIR,
        "A migration is a job that was suspended and runs again; with BgMBF and BgMBFSDF, one that "
        "returns to its hosts at once has not left them.",
        "The paper says both that KTH-SP2 has up to 350 migrations and NASA-iPSC 200, and that "
        "KTH-SP2 has fewer at the same load.",
        f"Totals are of up to {JOBS} jobs.",
        BANDWIDTH,
        TREE,
        NARROWS,
        LITERAL,
    ),
    trials=ON_TRACES,
)

EXPERIMENTS = (FIG6, FIG7, FIG8)
