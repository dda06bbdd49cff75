"""Symmetry 2018, Table 1 and Figures 2, 4 and 5: how many jobs find a place at once."""

import statistics
from dataclasses import replace

import numpy

from nova_twotier.core.embedding.weight import adaba_weight
from nova_twotier.sim.plots.load import Chart, Curve
from nova_twotier.sim.reproduce import archive
from nova_twotier.sim.reproduce.claims import Claim, Finding
from nova_twotier.sim.reproduce.experiment import Experiment, Plot, Run, Settings
from nova_twotier.sim.reproduce.measures import better
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.reproduce.symmetry_claims import (
    descends_slower,
    falls,
    improved_at,
    margin_grows,
)
from nova_twotier.sim.reproduce.symmetry_setting import (
    ANYWHERE,
    BANDWIDTH,
    BASE,
    EMBEDDINGS,
    JOBS,
    LITERAL,
    NARROWS,
    NETWORKS,
    ON_TRACES,
    PLACES,
    SLOTS,
    TRACES,
    TREE,
    point,
    runs,
)
from nova_twotier.sim.reproduce.trials import MORE_SEEDS, bandwidth, more_jobs
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads import catalogue
from nova_twotier.sim.workloads.bandwidth import Bandwidth

RATE, OF_ONE_HOST = "accept_rate", "accept_rate_one_host"
#: A series of Figure 4 that the paper does not have.
OR_EXACT = "AdaBa or exact"
RIVALS = tuple(name for name in EMBEDDINGS if name != "AdaBa")
BEST_FIT = (
    ("Best fit", ("Oktopus", "Greedy")),
    ("Best fit anywhere", ("Greedy anywhere",)),
)
#: Table 1: run time in minutes, jobs, bandwidth in Mbit/s, processes.
TABLE1_GROUPS = (
    "average run time (min)",
    "jobs",
    "average bandwidth (Mbit/s)",
    "maximum processes",
)
TABLE1 = {"KTH-SP2": (72.4, 1000, 251, 100), "NASA-iPSC": (10.4, 1000, 247, 128)}

#: Figure 2: Bmax, and the curves of the bandwidths.
MAX_MBPS = 800
CURVES = tuple(range(10, 800, 100))

#: Figure 4.
RANDOM = {f"random jobs{network}": topology for network, topology in NETWORKS.items()}
SIZE = 8
LOAD = 0.5
MEANS = tuple(range(50, 701, 50))
#: "Up to 15 percent of improvement on accept rate": ours may differ by so many points.
UP_TO, WITHIN = 15.0, 5.0


def _table1(_results: Results, settings: Settings) -> list[Number]:
    paths = archive.find(settings.traces, TRACES)
    numbers = []
    for place, path in paths.items():
        jobs = catalogue.load(str(path)).head(min(JOBS, settings.head or JOBS)).jobs
        sizes = [job.size for job in jobs]
        ours = (
            [statistics.fmean(job.runtime for job in jobs) / 60],
            [len(jobs)],
            [_average_bandwidth(sizes, seed) for seed in range(settings.seeds)],
            [max(sizes)],
        )
        for group, paper, values in zip(TABLE1_GROUPS, TABLE1[place], ours, strict=True):
            numbers.append(Number.of(group, place, "", paper, values))
    return numbers


def _average_bandwidth(sizes: list[int], seed: int) -> float:
    """As the simulations draw it."""
    rng = numpy.random.default_rng((seed, 1))
    return statistics.fmean(Bandwidth().draw(sizes, SLOTS, 1000, rng))


def _best(mbps: int) -> int:
    """Idle slots of the host that a request of this bandwidth likes best."""
    return max(range(1, SLOTS + 1), key=lambda idle: adaba_weight(idle, SLOTS, mbps, MAX_MBPS))


def _weights() -> tuple[Chart, ...]:
    idle = tuple(range(1, SLOTS + 1))
    curves = tuple(
        Curve(
            f"{mbps} Mbit/s",
            tuple(map(float, idle)),
            tuple(adaba_weight(each, SLOTS, mbps, MAX_MBPS) for each in idle),
            (0.0,) * SLOTS,
        )
        for mbps in CURVES
    )
    return (
        Chart(
            title="AdaBa's weight of a host by bandwidth",
            metric="weight",
            curves=curves,
            seeds=1,
            axis="idle slots of the host",
            legend="B",
            remark=f"equation 7, Bmax = {MAX_MBPS} Mbit/s, L = {SLOTS}",
        ),
    )


def _fullest(_results: Results) -> Finding:
    best = {_best(mbps) for mbps in (10, 110)}
    return Finding(", ".join(map(str, sorted(best))), best == {1})


def _more_idle(_results: Results) -> Finding:
    best = [_best(mbps) for mbps in CURVES if mbps >= 210]
    return Finding(", ".join(map(str, best)), sorted(set(best)) == best)


def _scenarios(**changes) -> dict[str, Scenario]:
    return {
        series: replace(BASE, embedding=embedding, queueing=False, **changes)
        for series, embedding in EMBEDDINGS.items()
    }


def _fig4_runs(settings: Settings) -> list[Run]:
    source = f"memoryless:{settings.model_jobs or JOBS}:{SIZE}"
    made = []
    for seed in range(settings.seeds):
        for mean in MEANS:
            scenarios = _scenarios(bandwidth=f"normal:{mean}")
            scenarios[OR_EXACT] = replace(scenarios["AdaBa"], embedding="adaba-or-exact")
            for series, scenario in scenarios.items():
                for place, topology in RANDOM.items():
                    each = replace(scenario, topology=topology)
                    taken = point(source, each, LOAD, seed, settings.head)
                    made.append(Run(series, place, taken, at=mean))
    return made


def _fig5_runs(settings: Settings) -> list[Run]:
    return runs(settings, _scenarios())


TABLE = Experiment(
    name="symmetry2018-table1",
    source="Symmetry 2018, Table 1",
    about="the workloads, with the bandwidth that is drawn for them",
    numbers=_table1,
    notes=(
        BANDWIDTH,
        "The first 1000 jobs of KTH-SP2 need at most 84 processes; 100 are the processors of the "
        "machine, so the paper may have taken other jobs.",
    ),
)

FIG2 = Experiment(
    name="symmetry2018-fig2",
    source="Symmetry 2018, Figure 2",
    about="AdaBa's weight of a host against its idle slots",
    claims=(
        Claim(
            "With 10 and 110 Mbit/s, a host with one idle slot has the largest weight",
            "section 4.1",
            "1",
            "of 1 to 8 idle slots, 1 has; ours: those that have",
            _fullest,
        ),
        Claim(
            "From 210 to 710 Mbit/s, it is a host with more and more idle slots",
            "section 4.1",
            "yes",
            "each step has more than the one before; ours: the idle slots",
            _more_idle,
        ),
    ),
    charts=_weights,
)


def _ahead(place: str, *, most: bool) -> tuple[Claim, ...]:
    """AdaBa before each of the others, at every point or at most of them."""
    return tuple(
        Claim(
            f"{place}: AdaBa accepts more than {rival}",
            "section 5.3.1",
            "mostly" if most else "always",
            "at most loads" if most else "at every average bandwidth",
            better(("AdaBa",), (rival,), (RATE,), place=place, higher=True, most=most),
        )
        for rival in RIVALS
    )


def _at_most_bandwidth(place: str) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            f"{place}: at {MEANS[-1]} Mbit/s, AdaBa accepts up to 15 percent more than {rival}",
            "section 5.3.1 (2)",
            UP_TO,
            f"at least {UP_TO - WITHIN:g} % more",
            improved_at(MEANS[-1], "AdaBa", rival, RATE, UP_TO - WITHIN, place=place),
            unit="%",
        )
        for rival in RIVALS
    )


def _further_ahead(place: str, what: str, rivals: tuple[str, ...]) -> tuple[Claim, ...]:
    """The more contention, the more AdaBa is ahead."""
    return tuple(
        Claim(
            f"{place}: the higher the {what}, the further AdaBa is ahead of {rival}",
            "section 5.3.1",
            "yes",
            f"more points ahead in the upper half of the {what}s than in the lower",
            margin_grows("AdaBa", rival, RATE, place=place),
            unit="points",
        )
        for rival in rivals
    )


def _at_every_bandwidth(place: str) -> tuple[Claim, ...]:
    return (
        *_ahead(place, most=False),
        *_at_most_bandwidth(place),
        *_further_ahead(place, "average bandwidth", RIVALS),
        Claim(
            f"{place}: the accept rate decreases as the bandwidth increases",
            "section 5.3.1 (3)",
            "yes",
            "AdaBa's: rank correlation at most -0.9",
            falls("AdaBa", RATE, place=place, most=-0.9),
        ),
        Claim(
            f"{place}: AdaBa's accept rate decreases more slowly",
            "section 5.3.1 (3)",
            "yes",
            f"loses less from {MEANS[0]} to {MEANS[-1]} Mbit/s than any other; ours: as a part of "
            "the least of them",
            descends_slower("AdaBa", RIVALS, RATE, place=place),
        ),
        *(
            Claim(
                f"{place}: {one} accepts more than {' and '.join(others)}",
                "section 5.3.1 (4)",
                "mostly",
                "in most cases",
                better((one,), others, (RATE,), place=place, higher=True, most=True),
            )
            for one, others in BEST_FIT
        ),
    )


FIG4 = Experiment(
    name="symmetry2018-fig4",
    source="Symmetry 2018, Figure 4",
    about="accept rate against average bandwidth, without a queue",
    runs=_fig4_runs,
    claims=tuple(claim for place in RANDOM for claim in _at_every_bandwidth(place)),
    plots=tuple(
        Plot(place, metric, logarithmic=False) for metric in (RATE, OF_ONE_HOST) for place in RANDOM
    ),
    axis="average bandwidth (Mbit/s)",
    notes=(
        f"Random jobs: arrivals Poisson, sizes geometric with mean {SIZE}, run times exponential, "
        f"load {LOAD:g}; the paper names the two means only. Jobs of a run: {JOBS} unless "
        "--model-jobs says otherwise.",
        "Bandwidths are normal with a deviation of a fifth of the mean, as in section 5.2.",
        f"'{OR_EXACT}' takes any place that there is where AdaBa finds none: what a better search "
        "would gain. The jobs that fit on one host are those that AdaBa means to hide.",
        ANYWHERE,
        TREE,
        NARROWS,
        LITERAL,
    ),
    trials=(MORE_SEEDS, more_jobs(JOBS), bandwidth("by-size")),
)

FIG5 = Experiment(
    name="symmetry2018-fig5",
    source="Symmetry 2018, Figure 5",
    about="accept rate against load, without a queue",
    runs=_fig5_runs,
    claims=tuple(
        claim
        for place in PLACES
        for claim in (
            *_ahead(place, most=True),
            *_further_ahead(place, "load", ("Oktopus", "Best fit anywhere")),
        )
    ),
    plots=tuple(Plot(place, RATE, logarithmic=False) for place in PLACES),
    notes=(BANDWIDTH, ANYWHERE, TREE, NARROWS, LITERAL),
    trials=ON_TRACES,
)

EXPERIMENTS = (TABLE, FIG2, FIG4, FIG5)
