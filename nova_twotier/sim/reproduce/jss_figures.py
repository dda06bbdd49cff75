"""JSS 2015, Figures 4 to 10: FWload and JWload against the load, EASY with Tsafrir's estimates."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from nova_twotier.sim.reproduce import models, trials
from nova_twotier.sim.reproduce.claims import OURS, Claim
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings, Trial
from nova_twotier.sim.reproduce.jss_tables import COMPARABLE, SIGNIFICANT, WITHIN
from nova_twotier.sim.reproduce.measures import (
    AVERAGES,
    EXTREMES,
    at_least,
    at_most_times,
    better,
    grows,
    improvement,
    more_improved,
    more_improved_in,
    only_above,
    ordered,
    peaks_inside,
)
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads.utilisation import Utilisation

#: The number of jobs that is run if the user does not say; the paper has PAPER_JOBS.
JOBS = 20_000
PAPER_JOBS = {"FWload": 350_000, "JWload": 100_000}

_MODELS = {"FWload": "feitelson", "JWload": "jann"}
_NOTES = {"FWload": models.SURROGATE, "JWload": models.REFIT}

_FCFS = {"FCFS": Scenario("fcfs", progress="jss")}
_EASY = {"EASY": Scenario("easy", progress="jss")}
_CCFCFS = {"CCFCFS": Scenario("ccfcfs", progress="jss")}
_ACFCFS = {"ACFCFS": Scenario("acfcfs", progress="jss")}


def _with(utilisation: Utilisation) -> Scenario:
    return replace(_ACFCFS["ACFCFS"], utilisation=utilisation)


_ACCURACY = {
    "ACFCFS": _with(Utilisation()),
    "ACFCFS10": _with(Utilisation(error=0.1)),
    "ACFCFS20": _with(Utilisation(error=0.2)),
    "ACFCFSUN": _with(Utilisation(error=None)),
}
_USAGE = {
    f"ACFCFS{percent}": _with(Utilisation.averaging(percent / 100))
    for percent in (60, 70, 80, 90, 100)
}

#: Of Figures 4 to 6, and of those with many policies, where each trial takes longer.
_TRIALS = (
    trials.OWN_WORK,
    trials.SLICES,
    trials.NO_FLOOR,
    trials.MORE_SEEDS,
    trials.more_jobs(JOBS),
)
_FEW_TRIALS = (trials.OWN_WORK, trials.SLICES)

#: What is plotted, and whether on a logarithmic axis.
_PERFORMANCE = {
    "average_wait_seconds": True,
    "maximum_wait_seconds": True,
    "average_bounded_slowdown": True,
    "maximum_bounded_slowdown": True,
}


def _experiment(
    figure: int,
    places: tuple[str, ...],
    about: str,
    scenarios: Mapping[str, Scenario],
    claims: tuple[Claim, ...],
    metrics: Mapping[str, bool] = _PERFORMANCE,
    tried: tuple[Trial, ...] = _FEW_TRIALS,
) -> Experiment:
    paper = ", ".join(f"{PAPER_JOBS[place]:,} of {place}" for place in places)
    return Experiment(
        name=f"jss2015-fig{figure}",
        source=f"JSS 2015, Figure {figure}",
        about=about,
        # FCFS is in claims of every figure, and in the plots of two.
        runs=_runs(places, scenarios | _FCFS, () if "FCFS" in scenarios else ("FCFS",)),
        claims=claims,
        plots=models.plots(metrics, places),
        notes=(
            f"Jobs of a workload: {JOBS:,} unless --model-jobs says otherwise; the paper ran "
            f"{paper}.",
            "The paper does not name the size of the machine; it is 320 slots as in TPDS 2013.",
            "The estimates are Tsafrir's, up to the longest run time of the workload.",
            *(_NOTES[place] for place in places),
        ),
        progress="jss",
        trials=tried,
    )


def _runs(
    places: tuple[str, ...], scenarios: Mapping[str, Scenario], hidden: tuple[str, ...]
) -> Callable[[Settings], list[Run]]:
    def runs(settings: Settings) -> list[Run]:
        jobs = settings.model_jobs or JOBS
        sources = {place: f"{_MODELS[place]}:{jobs}+tsafrir" for place in places}
        return models.runs(settings, sources, scenarios, hidden=hidden)

    return runs


def _performance(place: str, wait: float, slowdown: float) -> tuple[Claim, ...]:
    """Of Figures 4 and 5.

    :param wait, slowdown: the printed improvements of ACFCFS over FCFS, in per cent.
    """
    return (
        Claim(
            "CCFCFS and ACFCFS are better than FCFS, on average and at the maximum",
            "section 4.2 (1)",
            "always",
            "at every load and metric",
            better(("CCFCFS", "ACFCFS"), ("FCFS",), AVERAGES + EXTREMES),
        ),
        Claim(
            "ACFCFS beats CCFCFS",
            "section 4.2 (1)",
            "always",
            "in both averages at every load",
            better(("ACFCFS",), ("CCFCFS",), AVERAGES),
        ),
        *(
            Claim(
                f"ACFCFS improves FCFS's {words}",
                "section 4.2 (1)",
                paper,
                f"averaged over the loads, within {WITHIN:g} points of the paper's",
                improvement("ACFCFS", "FCFS", metric, paper, WITHIN),
                unit="%",
            )
            for words, metric, paper in (
                ("average wait", AVERAGES[0], wait),
                ("average bounded slowdown", AVERAGES[1], slowdown),
            )
        ),
        *(
            Claim(
                f"EASY has the better {words} only at high load",
                "section 4.2 (2)",
                f"above {limit}",
                f"EASY better at no load up to {limit}, but above; ours: the lowest at which it is",
                only_above(limit, "EASY", "ACFCFS", metric, place=place),
            )
            for words, metric, limit in (
                ("average wait", AVERAGES[0], 0.8),
                ("average bounded slowdown", AVERAGES[1], 0.85),
            )
        ),
        Claim(
            "ACFCFS improves the bounded slowdown by more than the wait",
            "section 4.2 (4)",
            round(slowdown - wait, 1),
            "more improvement over FCFS, on average over loads; the paper's by subtraction",
            more_improved("ACFCFS", "FCFS", AVERAGES[1], AVERAGES[0]),
            unit="points",
        ),
    )


def _kills(place: str) -> tuple[Claim, ...]:
    return (
        Claim(
            f"{place}: ACFCFS kills more jobs than CCFCFS",
            "section 4.2 (1)",
            "always",
            "at every load",
            better(("ACFCFS",), ("CCFCFS",), ("kills_per_job",), place=place, higher=True),
        ),
        Claim(
            f"{place}: ACFCFS's kills increase with the load",
            "section 4.2 (5)",
            "yes",
            "rank correlation of kills and load at least 0.9",
            grows("ACFCFS", "kills_per_job", place=place, least=0.9),
        ),
        Claim(
            f"{place}: CCFCFS's kills are most at a modest load",
            "section 4.2 (6)",
            "yes",
            "most neither at the lowest nor at the highest load; ours: the load of the most",
            peaks_inside("CCFCFS", "kills_per_job", place=place),
        ),
    )


_ACCURACY_CLAIMS = (
    Claim(
        "ACFCFS outperforms FCFS even without any CPU usage information",
        "section 4.3.1",
        "always",
        "ACFCFSUN at every load, in both averages",
        better(("ACFCFSUN",), ("FCFS",), AVERAGES),
    ),
    Claim(
        "Without that information it is comparable to EASY below a load of 0.8",
        "section 4.3.1",
        "yes",
        f"average bounded slowdown at most {COMPARABLE} times EASY's; ours: the greatest ratio",
        at_most_times(COMPARABLE, "ACFCFSUN", "EASY", AVERAGES[1], loads=lambda load: load < 0.8),
        unit="times",
    ),
    Claim(
        "An estimate of CPU usage, even with an error of 20 %, improves it significantly",
        "section 4.3.1",
        "yes",
        f"ACFCFS20's average wait at least {SIGNIFICANT:g} % below ACFCFSUN's, averaged over loads",
        at_least(SIGNIFICANT, "ACFCFS20", "ACFCFSUN", AVERAGES[0]),
        unit="%",
    ),
)

_USAGE_CLAIMS = (
    *(
        Claim(
            f"The more CPU the processes use, the longer the {words}{but}",
            "section 4.3.2",
            said,
            f"averaged over the loads, from 60 % to {last}",
            ordered(series, metric),
        )
        for words, metric in zip(("wait", "bounded slowdown"), AVERAGES, strict=True)
        for but, said, last, series in (
            ("", "always", "100 %", tuple(_USAGE)),
            (" (without the step to 100 %)", OURS, "90 %", tuple(_USAGE)[:-1]),
        )
    ),
    Claim(
        "Even with an average CPU usage of 100 %, ACFCFS is better than FCFS",
        "section 4.3.2",
        "always",
        "ACFCFS100 at every load, in both averages",
        better(("ACFCFS100",), ("FCFS",), AVERAGES),
    ),
)

EXPERIMENTS = (
    _experiment(
        4,
        ("FWload",),
        "performance against load, Feitelson's workload",
        _FCFS | _EASY | _CCFCFS | _ACFCFS,
        _performance("FWload", 94.2, 97.5),
        tried=_TRIALS,
    ),
    _experiment(
        5,
        ("JWload",),
        "performance against load, Jann's workload",
        _FCFS | _EASY | _CCFCFS | _ACFCFS,
        _performance("JWload", 92.4, 92.9),
        tried=_TRIALS,
    ),
    _experiment(
        6,
        ("FWload", "JWload"),
        "kills of a job against load, both workloads",
        _CCFCFS | _ACFCFS,
        (
            *_kills("FWload"),
            *_kills("JWload"),
            *(
                Claim(
                    f"FWload benefits more from ACFCFS than JWload: {words}",
                    "section 4.2 (3)",
                    paper,
                    "more improvement over FCFS, on average over loads; the paper's by subtraction",
                    more_improved_in("ACFCFS", "FCFS", metric, "FWload", "JWload"),
                    unit="points",
                )
                for words, metric, paper in (
                    ("average wait", AVERAGES[0], 1.8),
                    ("average bounded slowdown", AVERAGES[1], 4.6),
                )
            ),
        ),
        {"kills_per_job": False},
        tried=_TRIALS,
    ),
    *(
        _experiment(
            figure,
            (place,),
            f"estimates of CPU usage with errors, {words} workload",
            _ACCURACY | _EASY,
            _ACCURACY_CLAIMS,
        )
        for figure, place, words in ((7, "FWload", "Feitelson's"), (8, "JWload", "Jann's"))
    ),
    *(
        _experiment(
            figure,
            (place,),
            f"average CPU usage of 60 to 100 %, {words} workload",
            _USAGE | _EASY,
            _USAGE_CLAIMS,
        )
        for figure, place, words in ((9, "FWload", "Feitelson's"), (10, "JWload", "Jann's"))
    ),
)
