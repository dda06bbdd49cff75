"""What fair share does to the waits of heavy and other users, on two traces."""

from collections.abc import Iterator

from nova_twotier.sim import user_waits
from nova_twotier.sim.reproduce import on_traces
from nova_twotier.sim.reproduce.claims import Claim
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings, Table
from nova_twotier.sim.reproduce.measures import never_above
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.user_waits import UserPoint

#: Those that take longest to run first.
PLACES = ("SDSC", "KTH")
POLICIES = ("amcbf", "easy")
_HOUR = 3600.0


def _with(policy: str) -> str:
    return f"{policy}, fair share"


#: By series.
SCENARIOS = {
    **{
        name: scenario
        for policy in POLICIES
        for name, scenario in (
            (policy, Scenario(policy)),
            (_with(policy), Scenario(policy, fair_share="user")),
        )
    },
    "amcbf, at most 6 h": Scenario("amcbf", fair_share="user", longest_offset=6 * _HOUR),
    "amcbf, half-life of 1 d": Scenario("amcbf", fair_share="user", half_life=24 * _HOUR),
}
#: Columns of the tables, and what makes their unit.
_COLUMNS = {
    "average wait (min)": ("average_wait_seconds", 60),
    "bounded slowdown": ("average_bounded_slowdown", 1),
    "of the heaviest tenth of users (min)": (user_waits.HEAVY, 60),
    "of the others (min)": (user_waits.OTHERS, 60),
    "average of users' averages (min)": (user_waits.MEAN_USER, 60),
    "p90 of users' averages (min)": (user_waits.P90_USER, 60),
    "maximum wait (h)": ("maximum_wait_seconds", 3600),
}
#: What is aimed at: the metric with fair share as a part of that without, at most.
AIMS = {
    "average_wait_seconds": (1.05, "average wait"),
    user_waits.OTHERS: (0.85, "average wait of all but the heaviest tenth of users"),
    user_waits.HEAVY: (1.25, "average wait of the heaviest tenth of users"),
}


def _runs(settings: Settings) -> list[Run]:
    return on_traces.runs(settings, PLACES, SCENARIOS, UserPoint)


def _tables(results: Results, _settings: Settings) -> Iterator[Table]:
    for place in PLACES:
        yield on_traces.table(results, place, _COLUMNS)


STUDY = Experiment(
    name="fair-share",
    source="A study of our own",
    about="waits of heavy and other users with and without fair share, on two traces",
    runs=_runs,
    claims=tuple(
        Claim(
            f"{place}, {policy}: {words} with fair share",
            "aim",
            aim,
            f"at most {aim:g} of that without, with every seed; measured: the greatest ratio",
            never_above(aim, _with(policy), policy, metric, place=place),
            unit="times",
        )
        for place in PLACES
        for policy in POLICIES
        for metric, (aim, words) in AIMS.items()
    ),
    tables=_tables,
    notes=(
        "A user's work is the sum of size * run time over the whole trace. Half-life 7 days, "
        "weight of the background 0.5, offset at most 24 h, unless the row says otherwise.",
        "The traces' users do not react: they submit the same jobs at the same times, however long "
        "these wait.",
    ),
    progress="tpds",
    against="aim",
)
