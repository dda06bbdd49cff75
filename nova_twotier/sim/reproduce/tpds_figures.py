"""TPDS 2013, section 5: FWorkload and JWorkload on 320 nodes, EASY with exact run times."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from nova_twotier.sim.reproduce import models, trials
from nova_twotier.sim.reproduce.claims import OURS, Claim
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings
from nova_twotier.sim.reproduce.measures import (
    RESPONSES,
    at_least,
    better,
    gain,
    holds_up_to,
    larger_in,
    needed,
    ordered,
)
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads.utilisation import Utilisation

#: The model and the number of jobs of each workload.
_MODELS = {"FWorkload": ("feitelson", 20_000), "JWorkload": ("jann", 10_000)}
_PLACES = tuple(_MODELS)
#: From which load on jobs wait so much that policies differ clearly.
_HIGH = 0.8
#: The workload at a load that fills the queue.
_SATURATED = " saturated"

_TWO_TIERS = ("CMCBF", "AMCBF")
_SCENARIOS = {
    name: Scenario(name.lower(), estimates="exact" if name == "EASY" else "user")
    for name in ("FCFS", "EASY", "CMBF", "AMBF", *_TWO_TIERS)
}
_EASY = {"EASY": _SCENARIOS["EASY"]}


def _with(**changes) -> Scenario:
    return replace(_SCENARIOS["AMCBF"], **changes)


_ACCURACY = {
    "AMCBF": _with(),
    "AMCBF10": _with(utilisation=Utilisation(error=0.1)),
    "AMCBF20": _with(utilisation=Utilisation(error=0.2)),
    "AMCBFUN": _with(utilisation=Utilisation(error=None)),
}
#: The series of each migration cost (seconds) and of each average CPU usage (per cent).
_COSTS = {cost: f"AMCBF {cost} s" for cost in (0, 20, 120, 360, 600)}
_USAGES = {usage: f"AMCBF {usage} %" for usage in (70, 75, 80, 90, 95, 100)}

#: What may be meant by migrations: every job that is evicted is restored.
_MIGRATIONS = {"": "migrations_per_job", " (restores only)": "evictions_per_job"}

#: What is plotted, and whether on a logarithmic axis.
_RESPONSES = dict.fromkeys(RESPONSES, True)
_PERFORMANCE = _RESPONSES | dict.fromkeys(
    ("migrations_per_job", "utilisation", "allocation_share"), False
)

_NOTES = (
    "The numbers of jobs are the paper's unless --model-jobs says otherwise.",
    models.SURROGATE,
    models.REFIT,
)
#: The paper's numbers of jobs are run already.
_READINGS = (trials.WAITING_HEAD, trials.OWN_WORK, trials.SLICES)


def _runs(
    places: tuple[str, ...], scenarios: Mapping[str, Scenario], *, saturated: bool = False
) -> Callable[[Settings], list[Run]]:
    """:param saturated: also EASY and the two-tier policies where the queue never empties."""

    def runs(settings: Settings) -> list[Run]:
        sources = {
            place: f"{model}:{settings.model_jobs or jobs}"
            for place, (model, jobs) in _MODELS.items()
            if place in places
        }
        full = [
            Run(
                series,
                place + _SATURATED,
                models.point(settings, source, _SCENARIOS[series], models.SATURATION, seed),
                shown=False,
            )
            for seed in range(settings.seeds if saturated else 0)
            for place, source in sources.items()
            for series in ("EASY", *_TWO_TIERS)
        ]
        return full + models.runs(settings, sources, scenarios)

    return runs


def _figure(number: int, place: str, up_to: float, saturation: float) -> Experiment:
    """Figures 3 and 4.

    :param up_to, saturation: the printed improvements of the utilisation, in per cent.
    """
    # Said of JWorkload only.
    fewest = [
        Claim(
            f"CMCBF and AMCBF migrate less than CMBF{words}",
            "section 5.3 (4)",
            OURS if words else "always",
            "at every load",
            better(_TWO_TIERS, ("CMBF",), (metric,), place=place),
        )
        for words, metric in _MIGRATIONS.items()
    ]
    return Experiment(
        name=f"tpds2013-fig{number}",
        source=f"TPDS 2013, Figure {number}",
        about=f"performance against load, {place}",
        runs=_runs((place,), _SCENARIOS, saturated=True),
        claims=(
            _always("CMBF and AMBF outperform FCFS", 1, ("CMBF", "AMBF"), ("FCFS",), place),
            _always("EASY is better than CMBF and AMBF", 1, ("EASY",), ("CMBF", "AMBF"), place),
            Claim(
                f"EASY is better than CMBF and AMBF (from a load of {_HIGH:g} on)",
                "section 5.3 (1)",
                OURS,
                f"at every load from {_HIGH:g} on, response time and bounded slowdown",
                better(
                    ("EASY",),
                    ("CMBF", "AMBF"),
                    RESPONSES,
                    place=place,
                    loads=lambda load: load >= _HIGH,
                ),
            ),
            _always(
                "CMCBF and AMCBF outperform FCFS, CMBF, AMBF and EASY",
                1,
                _TWO_TIERS,
                ("FCFS", "CMBF", "AMBF", "EASY"),
                place,
            ),
            *_utilisation(place, up_to, saturation),
            _always("AMBF is better than CMBF", 3, ("AMBF",), ("CMBF",), place),
            Claim(
                "AMCBF is slightly better than CMCBF",
                "section 5.3 (3)",
                "mostly",
                "in most cases (loads, response time and bounded slowdown)",
                better(("AMCBF",), ("CMCBF",), RESPONSES, place=place, most=True),
            ),
            Claim(
                "AMBF migrates far less than CMBF",
                "section 5.3 (4)",
                "yes",
                "at least 25 % less, averaged over the loads",
                at_least(25.0, "AMBF", "CMBF", "migrations_per_job", place=place),
                unit="%",
            ),
            Claim(
                "AMCBF migrates slightly less than CMCBF",
                "section 5.3 (4)",
                "yes",
                "less, averaged over the loads",
                at_least(0.0, "AMCBF", "CMCBF", "migrations_per_job", place=place),
                unit="%",
            ),
            *(fewest if place == "JWorkload" else []),
        ),
        plots=models.plots(_PERFORMANCE, (place,)),
        notes=_NOTES,
        progress="tpds",
        trials=(*_READINGS, trials.MORE_SEEDS),
    )


def _utilisation(place: str, up_to: float, saturation: float) -> Iterator[Claim]:
    """By the paper's definition, and by the work that is done, which its numbers are nearer to."""
    full = place + _SATURATED
    for metric, words in (
        ("utilisation", "busy CPU cycles, as section 5.2 has it"),
        ("allocation_share", "slots that the jobs' work fills"),
    ):
        yield Claim(
            f"CMCBF and AMCBF have a higher CPU utilisation than EASY ({words})",
            "section 5.3 (2)",
            up_to,
            "the greatest relative improvement at any load within 1 point of the paper's",
            gain(_TWO_TIERS, "EASY", metric, up_to, 1.0, place=place),
            unit="%",
        )
        yield Claim(
            f"They improve the CPU utilisation at saturation ({words})",
            "section 5.3 (2)",
            saturation,
            f"at an offered load of {models.SATURATION:g}, over EASY's, within 5 points of the "
            "paper's",
            gain(_TWO_TIERS, "EASY", metric, saturation, 5.0, place=full),
            unit="%",
        )
    yield Claim(
        "The improvement at saturation can be one of busy CPU cycles",
        "follows from section 5.3 (2)",
        "at most 1",
        "the utilisation that EASY would need, as a multiple of what it has with no slot idle",
        needed(_TWO_TIERS, "EASY", saturation, place=full),
        unit="times",
    )


def _always(
    text: str, number: int, winners: tuple[str, ...], losers: tuple[str, ...], place: str
) -> Claim:
    return Claim(
        text,
        f"section 5.3 ({number})",
        "always",
        "at every load, response time and bounded slowdown",
        better(winners, losers, RESPONSES, place=place),
    )


def _study(
    name: str, about: str, scenarios: Mapping[str, Scenario], claims: tuple[Claim, ...]
) -> Experiment:
    """A study of section 5.4, on both workloads."""
    return Experiment(
        name=f"tpds2013-{name}",
        source="TPDS 2013, section 5.4",
        about=about,
        runs=_runs(_PLACES, scenarios),
        claims=claims,
        plots=models.plots(_RESPONSES, _PLACES),
        notes=_NOTES,
        progress="tpds",
        trials=_READINGS,
    )


def _grows(
    text: str, number: int, series: tuple[str, ...], said: str = "always"
) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            f"{place}: {text}",
            f"section 5.4 ({number})",
            said,
            "the response time, averaged over the loads, grows from step to step",
            ordered(series, RESPONSES[0], place=place),
        )
        for place in _PLACES
    )


def _most(place: str) -> Claim:
    return Claim(
        f"{place}: even without any CPU usage information, AMCBF is better than EASY",
        "section 5.4 (1)",
        "mostly",
        "in most cases (loads, response time and bounded slowdown)",
        better(("AMCBFUN",), ("EASY",), RESPONSES, place=place, most=True),
    )


def _bears(place: str, cost: float) -> Claim:
    return Claim(
        f"{place}: AMCBF is better than EASY up to a high migration cost",
        "section 5.4 (2)",
        cost,
        f"in most cases with every cost up to {cost} s",
        holds_up_to(cost, _COSTS, "EASY", RESPONSES, place=place),
        unit="s",
    )


def _threshold(place: str, usage: float) -> Claim:
    last = max(level for level in _USAGES if level < usage)
    return Claim(
        f"{place}: AMCBF is better than EASY while the average CPU usage is below a threshold",
        "section 5.4 (3)",
        usage,
        f"in most cases with every usage below {usage} %; ours: the last of those tried",
        holds_up_to(last, _USAGES, "EASY", RESPONSES, place=place),
        unit="%",
    )


EXPERIMENTS = (
    _figure(3, "FWorkload", 2.4, 11.0),
    _figure(4, "JWorkload", 3.1, 16.0),
    _study(
        "accuracy",
        "estimates of CPU usage with errors, or none",
        _ACCURACY | _EASY,
        (
            *_grows("The less accurate the estimates, the slower", 1, tuple(_ACCURACY)),
            *map(_most, _PLACES),
        ),
    ),
    _study(
        "migration-cost",
        "migrations that cost 0 to 600 s",
        {series: _with(migration_cost=float(cost)) for cost, series in _COSTS.items()} | _EASY,
        (
            *_grows("The higher the migration cost, the slower", 2, tuple(_COSTS.values())),
            _bears("FWorkload", 600),
            _bears("JWorkload", 360),
            *(
                Claim(
                    f"JWorkload needs more migrations a job than FWorkload{words}",
                    "section 5.3 (4)",
                    OURS if words else "yes",
                    "AMCBF with a cost of 20 s, averaged over the loads; ours: the ratio",
                    larger_in("JWorkload", "FWorkload", _COSTS[20], metric),
                    unit="times",
                )
                for words, metric in _MIGRATIONS.items()
            ),
        ),
    ),
    _study(
        "cpu-usage",
        "average CPU usage of 70 to 100 %",
        {
            series: _with(utilisation=Utilisation.averaging(usage / 100))
            for usage, series in _USAGES.items()
        }
        | _EASY,
        (
            *_grows("The more CPU the processes use, the slower", 3, tuple(_USAGES.values())),
            *_grows(
                "The more CPU the processes use, the slower (without the step to 100 %)",
                3,
                tuple(_USAGES.values())[:-1],
                OURS,
            ),
            _threshold("FWorkload", 95),
            _threshold("JWorkload", 80),
        ),
    ),
)
