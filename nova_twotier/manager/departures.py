"""Places that jobs are about to give up, and who gets them: a policy sees neither as idle."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Cluster, Run
from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.db.models import Job
from nova_twotier.ledger.claims import Claim

#: A policy sees the places that come to no job as one job per tier: its number, and its name.
LEAVING = {Tier.FG: -3, Tier.BG: -4}
LEAVING_NAME = "a job that leaves"


@dataclass(frozen=True, slots=True)
class Departure:
    """A job that an open action takes off its slots, or moves to others.

    :param decision: when that was decided.
    :param tier: the tier that it will be in; None: it leaves.
    :param targets: the new hosts of the processes that change theirs, by index.
    :param origins: the hosts that those leave which do not change their tier.
    """

    job: Job
    decision: float
    tier: Tier | None = None
    targets: Mapping[int, str] = field(default_factory=dict)
    origins: Mapping[int, str] = field(default_factory=dict)

    def target(self, index: int, claim: Claim | None) -> tuple[Tier, str] | None:
        """Tier and host of a process after the action; None if it has none, or they are not known.

        :param claim: what it holds now.
        """
        if self.tier is None:
            return None
        if claim is not None:
            arrived = claim.tier is self.tier and claim.host != self.origins.get(index)
            if arrived or index not in self.targets:
                return self.tier, claim.host
        return (self.tier, self.targets[index]) if index in self.targets else None


@dataclass(frozen=True, slots=True)
class Expectation:
    """The slots that a start that has not begun counts on.

    :param decision: when it was decided.
    :param freed: slots that were not idle then (see `StartPlan.freed`).
    :param late: it no longer reserves slots that were idle.
    """

    decision: float
    freed: int
    late: bool


class GivenPlace(NamedTuple):
    """A place that a process is to give up."""

    decision: float
    tier: Tier
    host: int
    cpu: float


def hand_over(
    cluster: Cluster,
    tier: Tier,
    given: Iterable[GivenPlace],
    starting: Mapping[Job, Sequence[int]],
    expectations: Mapping[int, Expectation],
) -> dict[int, list[int]]:
    """Hosts of the places in a tier that go to starting jobs, by number; the others are pinned.

    Places that no job could get are left out: others are on their way there, or they are closed.

    :param starting: the places that the jobs hold already.
    """
    taken = Counter(chain.from_iterable(starting.values()))
    kept = []
    for place in given:
        if place.tier is tier and cluster.room(tier, place.host) > taken[place.host]:
            taken[place.host] += 1
            kept.append(place)
    handed = {}
    for job, places in starting.items():
        if expected := expectations.get(job.number):
            own = [place for place in kept if place.decision == expected.decision]
            coming = own[: job.size - len(places)]
            handed[job.number] = [place.host for place in coming]
            for place in coming:
                kept.remove(place)
    adopt(cluster, LEAVING[tier], LEAVING_NAME, tier, [(place.cpu, place.host) for place in kept])
    return handed


def adopt(
    cluster: Cluster,
    number: int,
    name: str,
    tier: Tier,
    places: Iterable[tuple[float, int]],
) -> None:
    """Take over places that no policy can change, as one job.

    :param places: CPU utilisation and host of each.
    """
    if places := sorted(places, reverse=True):
        cpu, hosts = zip(*places, strict=True)
        job = CoreJob(number, len(cpu), 0.0, cpu, name=name)
        cluster.adopt(Run(job, tier, hosts, pinned=True))
