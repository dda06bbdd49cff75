"""Our own study: AMCBF by deadline beside AMCBF, the EASY family and learned orders.

Five traces, as they were logged and scaled to loads, and how sure the result is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nova_twotier.sim import sweep
from nova_twotier.sim.reproduce import archive, on_traces
from nova_twotier.sim.reproduce.archive import Source
from nova_twotier.sim.reproduce.claims import Claim
from nova_twotier.sim.reproduce.experiment import Experiment, Plot, Run, Settings, Table
from nova_twotier.sim.reproduce.measures import at_most_times, better_in_pairs, never_above
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads import catalogue
from nova_twotier.sim.workloads.utilisation import Utilisation

TRACES = archive.TRACES | {"NASA": Source("NASA-iPSC-1993-3.1-cln", 128)}
OURS, BASE = "amcbf-deadline", "amcbf"
_TWO_TIERS = {name: Scenario(name) for name in (BASE, OURS, "amcbf-f4")}
#: Nothing is drawn at random: one run stands for all seeds.
_ONE_TIER = {
    name: Scenario(name)
    for name in (
        *("easy", "easy-sjf", "easy-saf", "easy++"),
        *("easy-f1", "easy-f2", "easy-f3", "easy-f4"),
    )
}
_HIDDEN = ("easy-f1", "easy-f2", "easy-f3", "amcbf-f4")

#: Seconds that a migration or restore costs.
COSTS = (20, 120, 360, 600, 1200)


def _at_cost(policy: str, cost: int) -> str:
    return f"{policy}, migrations of {cost} s"


def _unknown(policy: str) -> str:
    return f"{policy}, CPU unknown"


_HALF, _ALL = f"{OURS}, half understate", f"{OURS}, all understate"
_ROBUSTNESS = {
    **{
        _at_cost(policy, cost): Scenario(policy, migration_cost=float(cost))
        for policy in (BASE, OURS)
        for cost in COSTS
    },
    **{
        _unknown(policy): Scenario(policy, utilisation=Utilisation(error=None))
        for policy in (BASE, OURS)
    },
    _HALF: Scenario(OURS, understated=0.5),
    _ALL: Scenario(OURS, understated=1.0),
}
#: The series of ours and of AMCBF under the same conditions.
_PAIRS = (
    *((_at_cost(OURS, cost), _at_cost(BASE, cost)) for cost in COSTS),
    (_unknown(OURS), _unknown(BASE)),
    (_HALF, _at_cost(BASE, 20)),
    (_ALL, _at_cost(BASE, 20)),
)

#: The studies by what is added to the name of a trace to name its place.
LOGGED, LOADS, ROBUSTNESS = ", as logged", "", ", robustness"
STUDIES = {"as-logged": LOGGED, "loads": LOADS, "robustness": ROBUSTNESS}

WAIT, SLOWDOWN = "average_wait_seconds", "average_bounded_slowdown"
LONGEST = "maximum_wait_seconds"
#: What is aimed at: the metric of ours as a part of AMCBF's, at most.
AIMS = {WAIT: 0.65, SLOWDOWN: 0.40, LONGEST: 2.0}
_WORDS = {WAIT: "average wait", SLOWDOWN: "average bounded slowdown", LONGEST: "maximum wait"}
#: Columns of the tables, and what makes their unit.
_COLUMNS = {
    "average wait (min)": (WAIT, 60),
    "bounded slowdown": (SLOWDOWN, 1),
    "maximum wait (h)": (LONGEST, 3600),
    "p99 wait (h)": ("p99_wait_seconds", 3600),
    "migrations a job": ("migrations_per_job", 1),
}


def _chosen(settings: Settings, names: Mapping[str, object]) -> list[str]:
    """Those of the names that the user wants: all, unless there are some among the parts."""
    return [name for name in names if name in settings.only] or list(names)


def _runs(settings: Settings) -> list[Run]:
    """:raises archive.MissingTraces: if a trace that is wanted is not there."""
    traces = _chosen(settings, TRACES)
    paths = archive.find(settings.traces, {name: TRACES[name] for name in traces})
    runs = []
    for trace in traces:
        for study in _chosen(settings, STUDIES):
            loads = sorted(settings.loads, reverse=True) if study == "loads" else [None]
            for load in loads:
                for series, scenario, seed in _scenarios(study, settings.seeds):
                    point = sweep.Point(
                        str(paths[trace].resolve()),
                        replace(scenario, seed=seed),
                        load=load,
                        nodes=TRACES[trace].nodes,
                        head=settings.head,
                    )
                    shown = study == "loads" and series not in _HIDDEN
                    runs.append(Run(series, trace + STUDIES[study], point, shown))
    return runs


def _scenarios(study: str, seeds: int) -> Iterator[tuple[str, Scenario, int]]:
    if study == "robustness":
        drawn, certain = _ROBUSTNESS, {}
    else:
        drawn, certain = _TWO_TIERS, _ONE_TIER
    for series, scenario in certain.items():
        yield series, scenario, 0
    for seed in range(seeds):
        for series, scenario in drawn.items():
            yield series, scenario, seed


def _tables(results: Results, settings: Settings) -> Iterator[Table]:
    """What is not plotted, and how far a job may be overtaken."""
    for place in dict.fromkeys(results.runs["place"]):
        if place.endswith((LOGGED, ROBUSTNESS)):
            yield on_traces.table(results, place, _COLUMNS)
    bounds = {}
    traces = {name: TRACES[name] for name in _chosen(settings, TRACES)}
    for trace, path in archive.find(settings.traces, traces).items():
        workload = catalogue.load(str(path))
        jobs = (workload if settings.head is None else workload.head(settings.head)).jobs
        bounds[trace] = [max(job.estimate for job in jobs) / 3600]
    yield Table(
        f"Starvation bound of {OURS}",
        ("yields to none that arrived so much later (h)",),
        bounds,
    )


def _aims(trace: str) -> Iterator[Claim]:
    for metric, aim in AIMS.items():
        yield Claim(
            f"{trace}{LOGGED}: {OURS}'s {_WORDS[metric]}",
            "aim",
            aim,
            f"at most {aim:g} of AMCBF's with every seed; measured: the greatest ratio",
            never_above(aim, OURS, BASE, metric, place=trace + LOGGED),
            unit="times",
        )
    for metric, aim in AIMS.items():
        yield Claim(
            f"{trace}, scaled to loads: {OURS}'s {_WORDS[metric]}",
            "aim",
            aim,
            f"at most {aim:g} of AMCBF's at every load, means over the seeds; measured: the "
            "greatest ratio",
            at_most_times(aim, OURS, BASE, metric, place=trace + LOADS),
            unit="times",
        )
    yield Claim(
        f"{trace}: {OURS} is better than AMCBF whatever a migration costs, without CPU usage "
        "information, and if half or all of the users understate",
        "aim",
        "always",
        f"average wait and bounded slowdown: costs of {COSTS[0]} to {COSTS[-1]} s, estimates of a "
        "tenth",
        better_in_pairs(_PAIRS, (WAIT, SLOWDOWN), place=trace + ROBUSTNESS),
    )


STUDY = Experiment(
    name="policies",
    source="A study of our own",
    about="AMCBF ordered by arrival and by deadline, EASY and its variants, on five traces",
    runs=_runs,
    claims=tuple(claim for trace in TRACES for claim in _aims(trace)),
    plots=tuple(
        Plot(trace, metric, logarithmic=True) for trace in TRACES for metric in (WAIT, SLOWDOWN)
    ),
    tables=_tables,
    parts=(*TRACES, *STUDIES),
    against="aim",
    notes=(
        "NASA's log has no estimates: there they are the run times. The other logs' estimates are "
        "the walltimes that were enforced.",
        "easy++ and the learned orders F1 to F4 are in the simulator only: the first needs the "
        "history of users, the others bound no wait.",
        "A user who understates gives a tenth of the estimate. Nobody is killed for it here; an "
        "enforced walltime would.",
        "One-tier policies draw nothing at random: they run once.",
    ),
    progress="tpds",
)
