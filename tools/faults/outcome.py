"""The outcome of a run, and all problems with it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from nova_twotier.tools.faults.killer import KIND as KILLED
from nova_twotier.tools.faults.mishaps import Mishap
from nova_twotier.tools.faults.scenarios import Scenario
from nova_twotier.tools.faults.spoiler import Spoiler
from nova_twotier.tools.replay.supervisor import Supervisor

#: A run of many requests has about as large a share of spoiled ones as was asked for.
MANY, LEAST = 200, 0.5


@dataclass
class Outcome:
    """A run; it is good if there is no problem.

    :param totals: of the replay's summary.
    :param lost: jobs that did not finish with all their work; `doubled`: that ran or finished more
        than once at a time.
    :param wasted: work that was thrown away although no fault had affected it; `destroyed`: that
        went down with hosts and servers; both in process-seconds of the guests' time.
    :param recovery: seconds after each fault until the manager decided again, by kind of fault.
    :param counts: how often each trouble was made, by its kind.
    :param stall: the longest time in seconds that a job waited beside idle slots that it fits into.
    :param seconds: wall time of the run.
    :param skipped: why it was not run; empty if it was.
    :param figures: what else was measured, by what it is.
    """

    scenario: str
    about: str
    seed: int
    totals: dict = field(default_factory=dict)
    lost: int = 0
    doubled: int = 0
    wasted: float = 0.0
    destroyed: float = 0.0
    recovery: dict[str, list[float]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    stall: float = 0.0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    skipped: str = ""
    figures: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, scenario: Scenario, seed: int, done: dict, recovery: dict) -> "Outcome":
        """The outcome by the replay's summary."""
        losses = done["losses"]
        return cls(
            scenario.name,
            scenario.about,
            seed,
            done["totals"],
            len(losses["lost"]),
            len(losses["doubled"]),
            sum(losses["wasted"].values()),
            sum(losses["destroyed"].values()),
            {kind: [round(each, 2) for each in seconds] for kind, seconds in recovery.items()},
            problems=broken(done),
        )


def broken(done: dict) -> list[str]:
    """The problems by the replay's own summary."""
    problems = [
        f"{name}: {text}"
        for name, invariant in done["invariants"].items()
        for text in invariant["broken"] or ([] if invariant["holds"] else ["never checked"])
    ]
    problems += [
        f"{job['name']} ended as {job['state']}: {job['reason']}"
        for job in done["jobs"]
        if job["state"] != "finished"
    ]
    return problems


def wasteful(done: dict, hostile: Collection[str]) -> list[str]:
    """Jobs whose work was thrown away although no fault had affected it.

    :param hostile: names of jobs whose owners caused it themselves.
    """
    names = {job["number"]: job["name"] for job in done["jobs"]}
    return [
        f"{names[number]} lost {seconds:.0f} process-seconds of work that nothing had befallen"
        for number, seconds in done["losses"]["wasted"].items()
        if seconds and names[number] not in hostile
    ]


def untried(
    scenario: Scenario,
    kills: int,
    supervisors: Sequence[Supervisor],
    spoiler: Spoiler,
    mishaps: Iterable[Mishap],
) -> list[str]:
    """Faults that should have happened and did not, or the reverse: such a run shows nothing."""
    problems = []
    if deaths := sum(supervisor.deaths for supervisor in supervisors):
        problems.append(f"the manager died {deaths} times without being killed")
    if (killed := sum(supervisor.kills for supervisor in supervisors)) < kills:
        problems.append(f"{KILLED} only {killed} times of {kills}: the jobs were over too soon")
    least = LEAST * scenario.spoiled * spoiler.requests if spoiler.requests >= MANY else 1
    if scenario.spoiled and spoiler.spoiled < least:
        problems.append(f"only {spoiler.spoiled} of {spoiler.requests} requests were spoiled")
    problems += [
        f"{type(mishap).__name__} did not happen: the jobs were over too soon"
        for mishap in mishaps
        if not mishap.happened
    ]
    return problems
