"""What came out of a run, and all that is wrong with it."""

from collections.abc import Iterable
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
    :param counts: how often each trouble was made, by its kind.
    """

    scenario: str
    totals: dict
    counts: dict[str, int]
    problems: list[str] = field(default_factory=list)


def broken(done: dict) -> list[str]:
    """What is wrong by the replay's own summary."""
    problems = [
        f"{name}: {text}"
        for name, invariant in done["invariants"].items()
        for text in invariant["broken"]
    ]
    problems += [
        f"{job['name']} ended as {job['state']}: {job['reason']}"
        for job in done["jobs"]
        if job["state"] != "finished"
    ]
    return problems


def untried(
    scenario: Scenario,
    kills: int,
    supervisor: Supervisor,
    spoiler: Spoiler,
    mishaps: Iterable[Mishap],
) -> list[str]:
    """What did not happen that should have, and the other way round: a run that shows nothing."""
    problems = []
    if supervisor.deaths:
        problems.append(f"the manager died {supervisor.deaths} times without being killed")
    if supervisor.kills < kills:
        problems.append(
            f"{KILLED} only {supervisor.kills} times of {kills}: the jobs were over too soon"
        )
    if spoiler.requests >= MANY and spoiler.spoiled < LEAST * scenario.spoiled * spoiler.requests:
        problems.append(f"only {spoiler.spoiled} of {spoiler.requests} requests were spoiled")
    problems += [
        f"{type(mishap).__name__} did not happen: the jobs were over too soon"
        for mishap in mishaps
        if not mishap.happened
    ]
    return problems
