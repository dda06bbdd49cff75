"""The cluster that a policy is shown: the observed one, as open actions will leave it."""

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from types import MappingProxyType

from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import UNMANAGED, Cluster, Host, Run, make_run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.db.models import Job
from nova_twotier.db.plans import StartPlan
from nova_twotier.manager import ongoing
from nova_twotier.manager.departures import Departure, Expectation, GivenPlace, adopt, hand_over
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.releases import Places
from nova_twotier.manager.situation import Situation

_ID, _HOST = attrgetter("id"), attrgetter("host")
#: A tier by its text: `Tier(...)` takes several times as long.
_TIERS = {str(tier): tier for tier in Tier}
#: A policy sees the VMs that belong to no job as one job per tier (`UNMANAGED`), of this name.
UNMANAGED_NAME = "a server that is no job's"
#: And those of them that would make way, which are all in the background.
PREEMPTIBLE = -5


def of(
    present: Situation,
    running: Iterable[Job],
    waiting: Iterable[Job],
    threshold: float,
    releasing: Mapping[int, Places],
    settled: Container[int] = (),
    filled: Callable[..., Hosts] = Hosts,
) -> Hosts:
    """The cluster of a situation, as its open actions will leave it.

    :param running: the jobs that run, and neither leave nor move.
    :param waiting: at least those that wait with their state saved.
    :param releasing: see `cluster_of`, also for `settled` and `filled`.
    """
    jobs, seen, placing = present.jobs, present.seen, present.placing
    plans = {number: action.planned(StartPlan) for number, action in placing.items()}
    return cluster_of(
        seen,
        running,
        {jobs[number]: plan.tier for number, plan in plans.items()},
        [job for job in present.ending if job.tier],
        threshold,
        settled,
        [vm for job in waiting for vm in seen.resting(job)],
        {number: plan.hosts for number, plan in plans.items() if plan.hosts},
        filled,
        present.departures,
        ongoing.expectations(placing.values(), present.now),
        present.preemptible.keys(),
        releasing,
    )


def cluster_of(
    seen: Observation,
    running: Iterable[Job],
    starting: Mapping[Job, Tier],
    ending: Iterable[Job],
    threshold: float,
    settled: Container[int] = (),
    resting: Iterable[str] = (),
    planned: Mapping[int, Sequence[str]] = MappingProxyType({}),
    filled: Callable[..., Hosts] = Hosts,
    departures: Sequence[Departure] = (),
    expectations: Mapping[int, Expectation] = MappingProxyType({}),
    preemptible: Container[str] = (),
    releasing: Mapping[int, Places] = MappingProxyType({}),
) -> Hosts:
    """The cluster as it will be when all open actions but the ends are done.

    Every other VM keeps its slot, for an unknown time. Places that a departure will free are
    reserved for the starts that were decided with it, and are not idle.

    :param seen: the present state.
    :param running: jobs that run; those without all their slots count with what they hold.
    :param starting: jobs that hold some of their slots, or none yet, and the tier they start in;
        the others are taken where the ranking, and so Nova's scheduler, would place them.
    :param ending: jobs that still hold some of their slots.
    :param settled: numbers of the running jobs that may not be moved or preempted.
    :param resting: VMs that count as holding nothing, although they were seen with a slot.
    :param planned: the hosts of starting jobs whose bandwidth is reserved there, by number.
    :param filled: makes a cluster of hosts, the `threshold` and `runs`.
    :param departures: of jobs that are not in `running`.
    :param expectations: of the starting jobs whose action has not begun, by number.
    :param preemptible: VMs that are no job's, and would make way for one.
    :param releasing: of those of `ending` that have released some of their slots and keep them all
        here, the slots, by number.
    """
    counted = set(resting)
    runs = list(_runs(seen, running, settled, counted))
    hosts = [
        Host(
            host.name,
            host.shape.slots,
            host.shape.tiers,
            host.name in seen.enabled,
            # A leaving host takes no VMs again: whatever waits for maintenance cannot wait for it.
            -math.inf if host.leaving else seen.closes.get(host.name, math.inf),
        )
        for host in seen.hosts
    ]
    cluster = filled(hosts, threshold=threshold, runs=runs)
    for job in ending:
        places = _places(seen, job, counted)
        if before := releasing.get(job.number):
            known = (each for each in before.values() if each.host in seen.index)
            places = {each.process: seen.index[each.host] for each in known}
            counted.update(before)
        _pin(cluster, job, Tier(job.tier or ""), places, seen.at)
    given = [place for each in departures for place in _depart(seen, cluster, each, counted)]
    leaving = {each.job for each in departures}
    placed = {job: {} if job in leaving else _places(seen, job, counted) for job in starting}
    hoped: dict[int, dict[int, int]] = {}
    for job, places in placed.items():
        if len(places) < job.size and job.number in planned:
            hoped[job.number] = places
            names = planned[job.number]
            placed[job] = {
                i: seen.index[name] for i, name in enumerate(names) if name in seen.index
            }
    _adopt_others(seen, cluster, counted, preemptible)
    # The foreground first: it closes slots of the background.
    for tier in Tier:
        alike = {job: places for job, places in placed.items() if starting[job] is tier}
        _pin_starting(cluster, tier, alike, hoped, given, expectations, seen.at)
    return cluster


def _pin_starting(
    cluster: Hosts,
    tier: Tier,
    placed: Mapping[Job, dict[int, int]],
    hoped: Mapping[int, dict[int, int]],
    given: Sequence[GivenPlace],
    expectations: Mapping[int, Expectation],
    now: float,
) -> None:
    """Add the jobs that are starting in a tier, on the places that they hold or will get.

    :param placed: the hosts of their processes, as far as they are known or planned.
    :param hoped: those of the planned jobs whose servers hold a slot already, by job number.
    :param given: the places that departures give up.
    """
    held = {job: [*places.values()] for job, places in placed.items()}
    handed = hand_over(cluster, tier, given, held, expectations) if given else {}
    # Also what jobs hold that are not on the cluster yet, themselves included; where they were
    # planned, others may be.
    claims = {job: [*hoped.get(job.number, places).values()] for job, places in placed.items()}
    promised = Counter(chain.from_iterable((*handed.values(), *claims.values())))
    # First those whose slots are known, so that no other job is assumed to get these.
    for job, places in sorted(placed.items(), key=lambda one: one[0].size - len(one[1])):
        claimed = hoped.get(job.number)
        if claimed is not None and not _has_room(cluster, tier, places, claimed):
            places = claimed
        wanted = job.size - len(places)
        expected = expectations.get(job.number)
        if expected and expected.late:
            wanted = min(wanted, expected.freed)
        coming = handed.get(job.number, ())
        free = cluster.idle[tier] - promised.total()
        absent = max(0, min(wanted - len(coming), free))
        missing = [i for i in job.core.dispatch or range(job.size) if i not in places]
        new = [*coming, *(cluster.rank(tier, absent, promised) if absent else ())]
        places |= dict(zip(missing, new))  # noqa: B905  (the rest is not on its way yet)
        promised -= Counter([*coming, *claims[job]])
        _pin(cluster, job, tier, places, _expected_end(job.core, now))


def _depart(
    seen: Observation, cluster: Cluster, departure: Departure, counted: set[str]
) -> Iterator[GivenPlace]:
    """Pin a job where it is going; returns the places that it gives up.

    Its servers are `counted` from then on.
    """
    job, going = departure.job, []
    profile = job.profile
    for server in seen.gang(job)[: job.size]:
        claim, cpu = seen.claims.get(server.id), profile[server.index]
        target = departure.target(server.index, claim)
        if claim is not None:
            counted.add(server.id)
            if target != (claim.tier, claim.host):
                yield GivenPlace(departure.decision, claim.tier, seen.index[claim.host], cpu)
        if target is not None and target[1] in seen.index and server.id not in seen.moving:
            going.append((cpu, seen.index[target[1]]))
    if going and departure.tier is not None:
        cpus, hosts = zip(*going, strict=True)
        part = replace(job.core, size=len(going), cpu=cpus)
        cluster.adopt(Run(part, departure.tier, hosts, pinned=True))


def _runs(
    seen: Observation, jobs: Iterable[Job], settled: Container[int], counted: set[str]
) -> Iterator[Run]:
    """The runs of the jobs that hold all their slots; their servers are `counted` from then on."""
    claims, index = seen.claims, seen.index
    for job in jobs:
        core = job.core
        vms = list(map(_ID, seen.gang(job)))
        held = list(filter(None, map(claims.get, vms)))
        if not len(held) == len(vms) == core.size:
            continue
        counted.update(vms)
        places = tuple(map(index.__getitem__, map(_HOST, held)))
        # A run that an earlier release began has no beginning of its own.
        since = job.run_since
        began = job.started_at if since is None else since - job.run_before
        until = _expected_end(core, began)
        yield make_run((core, _TIERS[job.tier or ""], places, core.number in settled, until))


def _places(seen: Observation, job: Job, counted: set[str]) -> dict[int, int]:
    """Hosts, by index, of the processes whose servers hold a slot; these are `counted` from then
    on.

    One of each process: a gang with too many servers is about to be deleted.
    """
    holding = {each.index: each.id for each in seen.gang(job) if each.id in seen.claims}
    counted.update(holding.values())
    return {process: seen.index[seen.claims[vm].host] for process, vm in holding.items()}


def _has_room(
    cluster: Cluster, tier: Tier, planned: Mapping[int, int], claimed: Mapping[int, int]
) -> bool:
    """Whether a job still has room where it was planned: Nova may have put others there.

    :param planned: the hosts of its processes.
    :param claimed: those of the processes that hold their slots already.
    """
    coming = Counter(host for process, host in planned.items() if process not in claimed)
    return all(cluster.room(tier, host) >= count for host, count in coming.items())


def _adopt_others(
    seen: Observation, cluster: Cluster, counted: Set[str], preemptible: Container[str]
) -> None:
    """Take over the places of VMs that were not counted yet: no policy can change them.

    Unknown CPU utilisation counts as 0.
    """
    others: dict[Tier, list[tuple[float, int]]] = {tier: [] for tier in Tier}
    making_way: list[tuple[float, int]] = []
    for claim in seen.claims_but(counted):
        places = making_way if claim.vm in preemptible else others[claim.tier]
        places.append((claim.utilisation, seen.index[claim.host]))
    for tier, places in others.items():
        adopt(cluster, UNMANAGED[tier], UNMANAGED_NAME, tier, places)
    adopt(cluster, PREEMPTIBLE, UNMANAGED_NAME, Tier.BG, making_way)


def _pin(cluster: Cluster, job: Job, tier: Tier, places: Mapping[int, int], until: float) -> None:
    if places:
        core = job.core
        cpu = tuple(core.cpu[process] for process in places)
        part = replace(core, size=len(places), cpu=cpu)
        cluster.adopt(Run(part, tier, tuple(places.values()), pinned=True, until=until))


def _expected_end(job: CoreJob, start: float | None) -> float:
    """When a job ends by its estimate or walltime; infinite if that, or its start, is unknown."""
    return math.inf if start is None else start + job.expected
