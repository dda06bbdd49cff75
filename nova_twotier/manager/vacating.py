"""Moves jobs off hosts that are drained with migration, to idle slots of the same tier."""

from collections.abc import Callable, Container

from nova_twotier.core.cluster import Cluster, OutOfSlots, Run
from nova_twotier.db.models import Job, pause
from nova_twotier.db.plans import VacatePlan
from nova_twotier.db.states import ActionKind
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs
from nova_twotier.manager.planning import PHASE_MIGRATE, Record
from nova_twotier.manager.relocations import is_at_work

#: Seconds until a job is moved again that could not be migrated many times.
LONGEST_PAUSE = 3600.0


def find(
    cluster: Cluster,
    jobs: Jobs,
    seen: Observation,
    now: float,
    hosts: Container[str],
    lead: Callable[[int], float] = lambda _number: 0.0,
) -> tuple[list[Record], bool]:
    """Live migrations off some hosts, and whether jobs are left there that cannot be moved yet.

    A job is moved if all its processes on these hosts find an idle slot. Jobs with bandwidth stay
    until they end, since their links are reserved where they are.

    :param cluster: as it is when nothing else is to be done; it is changed.
    :param hosts: names of the hosts to leave. The cluster must show them as disabled.
    :param lead: seconds that a job with a number still takes at most: if it can, it goes to hosts
        that are not drained before it ends.
    """
    leaving = {index for index, host in enumerate(seen.hosts) if host.name in hosts}
    found: list[Record] = []
    left = False
    for number, run in sorted(cluster.runs.items()) if leaving else ():
        moving = [process for process, host in enumerate(run.hosts) if host in leaving]
        job = jobs.get(number)
        if job is None or not moving:
            continue
        movable = _movable(job, seen) and now >= _again(job)
        if run.pinned or not movable or cluster.idle[run.tier] < len(moving):
            left = True
            continue
        # The hottest process gets the best place.
        moving.sort(key=lambda process: -run.job.cpu[process])
        places = _places(cluster, run, len(moving), now + lead(number))
        targets = dict(zip(moving, places, strict=True))
        after = tuple(targets.get(process, host) for process, host in enumerate(run.hosts))
        if not _moved(cluster, run, run._replace(hosts=after)):
            left = True
            continue
        plan = VacatePlan(
            targets={process: seen.hosts[host].name for process, host in targets.items()},
            origins={process: seen.hosts[run.hosts[process]].name for process in moving},
        )
        found.append(Record(ActionKind.VACATE, PHASE_MIGRATE, number, plan, now))
    return found, left


def _places(cluster: Cluster, run: Run, count: int, end: float) -> list[int]:
    """The best places, on hosts that do not close before the job ends if there are enough."""
    early = {
        host: cluster.room(run.tier, host)
        for host, spec in enumerate(cluster.hosts)
        if spec.closes < end
    }
    try:
        return cluster.rank(run.tier, count, early)
    except OutOfSlots:
        return cluster.rank(run.tier, count)


def _moved(cluster: Cluster, run: Run, after: Run) -> bool:
    """Move a job, unless it would close slots under others: these would be preempted."""
    before = {host: cluster.overfull(host) for host in after.hosts}
    cluster.remove(run.job)
    cluster.adopt(after)
    if all(cluster.overfull(host) <= was for host, was in before.items()):
        return True
    cluster.remove(run.job)
    cluster.adopt(run)
    return False


def _again(job: Job) -> float:
    """When a job may be moved that was refused so often in a row: twice as long after each time.

    Policies may move it earlier, after its back-off.
    """
    refused_at = job.not_before - pause(job.setbacks)
    return refused_at + min(LONGEST_PAUSE, 2.0 ** min(job.setbacks, 30))


def _movable(job: Job, seen: Observation) -> bool:
    return not job.mbps and is_at_work(job, seen)
