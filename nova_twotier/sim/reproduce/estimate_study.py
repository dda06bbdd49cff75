"""What policies gain from users' estimates, from the truth, and from predictions of run times."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nova_twotier.sim import sweep
from nova_twotier.sim.reproduce import archive, on_traces, symmetry_setting
from nova_twotier.sim.reproduce.claims import Claim
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings, Table
from nova_twotier.sim.reproduce.measures import never_above
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.scenario import Scenario

#: What is added to a trace's name: as it was logged, and with its arrivals stretched or pressed.
LOGGED, LOADED = ", as logged", ", load 0.85"
LOAD = 0.85
#: Of the places where jobs ask for bandwidth, with one link up from an edge switch.
NETWORK = symmetry_setting.NARROW
NETWORK_LOAD = 0.9

USER, FILLED = "user", "missing-historical"
#: Without preemption. SDF leaves the order to the estimates alone.
_SOURCES = {
    "easy": (
        *(USER, "exact", "last-two", "twice-last-two", "historical", "historical:0.8"),
        *("missing", FILLED, f"{FILLED}:0.8"),
    ),
    "sdf": (USER, "exact", "twice-last-two", "historical", "missing", FILLED),
    "amcbf-deadline": (
        *(USER, "exact", "twice-last-two", "historical", "historical:0.8", FILLED),
        f"{FILLED}:0.8",
    ),
    "bgmbf-sdf": (USER, "exact", "twice-last-two", "historical", "missing", FILLED),
}


def _name(policy: str, source: str) -> str:
    return f"{policy}, {source}"


def _scenarios(policy: str, base: Scenario | None = None) -> dict[str, Scenario]:
    base = Scenario(policy) if base is None else replace(base, policy=policy)
    return {_name(policy, source): replace(base, estimates=source) for source in _SOURCES[policy]}


#: Nothing is drawn at random: one run stands for all seeds.
_CERTAIN = _scenarios("easy") | _scenarios("sdf")
KEPT = f"{_name('amcbf-deadline', FILLED)}, rank kept"
LIARS = f"{_name('amcbf-deadline', USER)}, half understate"
CORRECTED = f"{_name('amcbf-deadline', 'user-corrected')}, half understate"
_DRAWN = {
    # It reads no estimate: it stands for all of them, and for amcbf-deadline without any.
    "amcbf": Scenario("amcbf"),
    **_scenarios("amcbf-deadline"),
    KEPT: Scenario("amcbf-deadline", estimates=FILLED, rerank=False),
    LIARS: Scenario("amcbf-deadline", understated=0.5),
    CORRECTED: Scenario("amcbf-deadline", estimates="user-corrected", understated=0.5),
}
_LINKED = _scenarios("bgmbf-sdf", symmetry_setting.BASE)

WAIT, SLOWDOWN = "average_wait_seconds", "average_bounded_slowdown"
#: Columns of the tables, and what makes their unit.
_COLUMNS = {
    "average wait (min)": (WAIT, 60),
    "bounded slowdown": (SLOWDOWN, 1),
    "maximum wait (h)": ("maximum_wait_seconds", 3600),
    "utilisation (%)": ("utilisation", 0.01),
    "migrations a job": ("migrations_per_job", 1),
}
PARTS = (*archive.TRACES, "bandwidth")


def _runs(settings: Settings) -> list[Run]:
    """:raises archive.MissingTraces: if a trace that is wanted is not there."""
    parts = [part for part in PARTS if part in settings.only] or list(PARTS)
    sources = {name: source for name, source in archive.TRACES.items() if name in parts}
    runs = []
    for trace, path in archive.find(settings.traces, sources).items():
        for suffix, load in ((LOGGED, None), (LOADED, LOAD)):
            for series, scenario, seed in _seeded(_CERTAIN, _DRAWN, settings.seeds):
                point = sweep.Point(
                    str(path.resolve()),
                    replace(scenario, seed=seed),
                    load=load,
                    nodes=archive.TRACES[trace].nodes,
                    head=settings.head,
                )
                runs.append(Run(series, trace + suffix, point))
    if "bandwidth" in parts:
        short = replace(settings, loads=(NETWORK_LOAD,))
        every = symmetry_setting.runs(short, _LINKED)
        runs += [run for run in every if run.place.endswith(NETWORK)]
    return runs


def _seeded(
    certain: Mapping[str, Scenario], drawn: Mapping[str, Scenario], seeds: int
) -> Iterator[tuple[str, Scenario, int]]:
    for series, scenario in certain.items():
        yield series, scenario, 0
    for seed in range(seeds):
        for series, scenario in drawn.items():
            yield series, scenario, seed


def _tables(results: Results, _settings: Settings) -> Iterator[Table]:
    for place in dict.fromkeys(results.runs["place"]):
        yield on_traces.table(results, place, _COLUMNS)


def _claim(place: str, what: str, aim: float, series: str, base: str, metric: str) -> Claim:
    return Claim(
        f"{place}: {what}",
        "aim",
        aim,
        f"at most {aim:g} times, with every seed; measured: the greatest ratio",
        never_above(aim, series, base, metric, place=place),
        unit="times",
    )


def _claims() -> Iterator[Claim]:
    for trace in archive.TRACES:
        for suffix in (LOGGED, LOADED):
            place = trace + suffix
            for metric, word in ((WAIT, "average wait"), (SLOWDOWN, "bounded slowdown")):
                for policy in ("easy", "amcbf-deadline"):
                    ours, users = _name(policy, FILLED), _name(policy, USER)
                    what = f"{policy}'s {word} without estimates, as with those of users"
                    yield _claim(place, what, 1.1, ours, users, metric)
                nothing = {"easy": _name("easy", "missing"), "amcbf-deadline": "amcbf"}
                for policy, base in nothing.items():
                    what = f"{policy}'s {word} without estimates: history beats nothing"
                    yield _claim(place, what, 1.0, _name(policy, FILLED), base, metric)
                what = f"amcbf-deadline's {word} gains if it ranks anew who outruns a prediction"
                yield _claim(place, what, 1.0, _name("amcbf-deadline", FILLED), KEPT, metric)
                what = (
                    f"the same, who outruns an estimate, if half of the users say a tenth: {word}"
                )
                yield _claim(place, what, 1.0, CORRECTED, LIARS, metric)
    for trace in symmetry_setting.TRACES:
        place = trace + NETWORK
        for metric, word in ((WAIT, "average wait"), (SLOWDOWN, "bounded slowdown")):
            what = f"bgmbf-sdf's {word} without estimates: history beats nothing"
            ours, base = _name("bgmbf-sdf", FILLED), _name("bgmbf-sdf", "missing")
            yield _claim(place, what, 1.0, ours, base, metric)


STUDY = Experiment(
    name="estimates",
    source="A study of our own",
    about="users' estimates, exact ones, and predictions from past jobs, under five policies",
    runs=_runs,
    claims=tuple(_claims()),
    tables=_tables,
    parts=PARTS,
    against="aim",
    notes=(
        "user: what the trace says; on NASA-iPSC that is the run time, since its log has none. "
        "exact: the run time. missing: nothing. last-two: the mean of the user's last two run "
        "times, twice-last-two: twice that. historical: the median of the most similar past jobs, "
        "historical:0.8: their 80 % quantile; all of these at most what the user asked for. "
        "missing-historical: the same where no user gives an estimate, as in a queue with "
        "`[manager]estimates = historical`.",
        "A prediction that a job outruns is corrected in the steps of Tsafrir 2007, and the policy "
        "decides again; amcbf-deadline gives the job its new rank unless the row says otherwise.",
        "amcbf reads no estimate. Run times are what the job was on its slots, slowed down by "
        "others or not: that is what a queue manager sees.",
        f"bgmbf-sdf: the setting of Symmetry 2018 with the narrow network, load {NETWORK_LOAD:g}.",
        "One-tier policies without a network draw nothing at random: they run once.",
        f"'{LOADED[2:]}': the times between arrivals are stretched or pressed to that load.",
    ),
    progress="tpds",
)
