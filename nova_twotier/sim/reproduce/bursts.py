"""What a burst of short jobs waits, and which choice of a two-tier policy that depends on."""

from collections.abc import Iterator

from nova_twotier.sim import bursts, variants
from nova_twotier.sim.bursts import BurstPoint
from nova_twotier.sim.reproduce import on_traces
from nova_twotier.sim.reproduce.claims import Claim
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings, Table
from nova_twotier.sim.reproduce.measures import never_above
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads.utilisation import Utilisation

#: Those that take longest to run first; their first jobs only.
PLACES, HEAD = ("SDSC", "KTH"), 20_000
BURSTS = 24

WAITING_FIRST, IN_PLACE = variants.CmcbfWaitingFirst.name, variants.CmcbfInPlace.name
#: By series.
SCENARIOS = {
    "easy": Scenario("easy"),
    "cmcbf": Scenario("cmcbf"),
    "cmcbf, background places drawn": Scenario("cmcbf", utilisation=Utilisation(error=None)),
    WAITING_FIRST: Scenario(WAITING_FIRST),
    IN_PLACE: Scenario(IN_PLACE),
    "amcbf": Scenario("amcbf"),
    "amcbf-deadline": Scenario("amcbf-deadline"),
}
#: Columns of the tables, and what makes their unit.
_COLUMNS = {
    "average wait (min)": ("average_wait_seconds", 60),
    "bounded slowdown": ("average_bounded_slowdown", 1),
    "of the bursts": (bursts.SLOWDOWN, 1),
    "of the others": (bursts.OTHERS, 1),
    "longest wait of a burst (min)": (bursts.LONGEST, 60),
    "migrations a job": ("migrations_per_job", 1),
}
_OF_BURSTS = "bounded slowdown of the bursts, least to greatest"
#: What is aimed at: the slowdown of the bursts' jobs as a part of that under AMCBF, at most.
AIM = 0.5


def _runs(settings: Settings) -> list[Run]:
    head = settings.head or HEAD
    return on_traces.runs(settings, PLACES, SCENARIOS, BurstPoint, head=head, bursts=BURSTS)


def _tables(results: Results, _settings: Settings) -> Iterator[Table]:
    for place in PLACES:
        table = on_traces.table(results, place, _COLUMNS)
        found = {series: results.values(bursts.SLOWDOWN, place, series) for series in table.rows}
        rows = {
            series: [*row, f"{min(found[series]):.1f} to {max(found[series]):.1f}"]
            for series, row in table.rows.items()
        }
        yield Table(place, (*table.columns, _OF_BURSTS), rows)


STUDY = Experiment(
    name="bursts",
    source="A study of our own",
    about="what bursts of short jobs wait under the two-tier policies of TPDS 2013, on two traces",
    runs=_runs,
    claims=tuple(
        Claim(
            f"{place}: amcbf-deadline's bounded slowdown of the bursts",
            "aim",
            AIM,
            f"at most {AIM:g} of AMCBF's with every seed; measured: the greatest ratio",
            never_above(AIM, "amcbf-deadline", "amcbf", bursts.SLOWDOWN, place=place),
            unit="times",
        )
        for place in PLACES
    ),
    tables=_tables,
    notes=(
        f"{BURSTS} bursts of {bursts.JOBS} jobs of {bursts.SIZE} processes each are added to the "
        f"first {HEAD:,} jobs of each trace; they run for {bursts.RUNTIME[0]:g} to "
        f"{bursts.RUNTIME[1]:g} s, and their user asks for {bursts.ASKED:g} s.",
        "With the CPU usage unknown, the places in the background are drawn, where there are "
        "several; otherwise, those below the coolest processes come first.",
    ),
    progress="tpds",
    against="aim",
)
