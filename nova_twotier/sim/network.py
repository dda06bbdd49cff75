"""Simulated clusters with a network, and which jobs they accept."""

import functools
from collections.abc import Iterable, Iterator

from nova_twotier.core.actions import FG, Start, StartKind
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.embedding import InvalidTopology, Topology
from nova_twotier.core.jobs import MAX_SIZE
from nova_twotier.core.linked import Linked
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.running_jobs import RunningJobs

#: Default Mbit/s of a link (Symmetry 2018, section 5.1).
RATE = 1000

#: A job's number and size, and why it does not run.
Rejected = tuple[int, int, str]


@functools.lru_cache
def topology(text: str) -> Topology:
    """From `fat-tree:K`, `fat-tree:K:MBPS` or `fat-tree:K:MBPS:EDGE:POD`.

    EDGE and POD are the physical links up from an edge switch and from a pod.

    :raises InvalidTopology: if it is none of them.
    """
    kind, *numbers = text.split(":")
    known = kind == "fat-tree" and len(numbers) in (1, 2, 4)
    if not (known and all(number.isdecimal() for number in numbers)):
        raise InvalidTopology(
            f"topology is {text!r}; give fat-tree:K, fat-tree:K:MBPS or "
            "fat-tree:K:MBPS:EDGE:POD, e.g. fat-tree:6, or fat-tree:6:1000:1:3 where an edge "
            "switch has one link up and a pod three"
        )
    k, rate, *uplinks = map(int, numbers if numbers[1:] else (*numbers, RATE))
    if (hosts := k**3 // 4) > MAX_SIZE:
        raise InvalidTopology(f"{text} has {hosts:,} hosts; give a K with up to {MAX_SIZE:,}")
    return Topology.fat_tree(k, rate, (uplinks[0], uplinks[1]) if uplinks else None)


def link_rate(text: str | None) -> float:
    """Mbit/s of a host's link in a topology, or of the papers' without one."""
    if text is None:
        return RATE
    return topology(text).rate[0]


def admitted(
    arrivals: Iterable[Execution], cluster: Cluster, rejected: list[Rejected]
) -> Iterator[Execution]:
    """The jobs that fit the empty cluster; the others are added to `rejected`.

    :param cluster: of the run, and empty now: its embedding is told of the bandwidth of each job
        when that has arrived, which is when the next one is asked for.
    """
    if not isinstance(cluster, Linked):
        yield from arrivals
        return
    empty = cluster.copy()
    arrived = []
    for each in arrivals:
        job = each.job
        arrived.append(job)
        if empty.fits(job, FG):
            yield each
            for one in arrived:
                cluster.saw(one)
            arrived.clear()
        else:
            rejected.append((job.number, job.size, str(empty.need(job))))


def run_without_queue(
    arrivals: Iterable[Execution], cluster: Cluster, running: RunningJobs, rejected: list[Rejected]
) -> Iterator[Execution]:
    """Simulate jobs that start when they arrive or are rejected (Symmetry 2018, section 5.3.1).

    Jobs that end at an instant leave before others arrive.

    :returns: the jobs, each as it ends.
    """
    for each in arrivals:
        job = each.job
        yield from _leave(cluster, running, job.arrival)
        if isinstance(cluster, Linked):
            cluster.saw(job)
        if cluster.fits(job, FG):
            run = cluster.start(job, FG)
            start = Start(job, FG, run.hosts, StartKind.IMMEDIATE)
            running.carry_out([start], {job.number: each}, job.arrival)
        else:
            rejected.append((job.number, job.size, str(cluster.need(job))))
    yield from _leave(cluster, running, float("inf"))


def _leave(cluster: Cluster, running: RunningJobs, now: float) -> Iterator[Execution]:
    """The jobs that have ended by `now`."""
    while (end := running.next_end()) <= now and end < float("inf"):
        for done in running.take_ended(end):
            cluster.remove(done.job)
            yield done
