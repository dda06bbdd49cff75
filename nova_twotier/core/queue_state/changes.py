"""Changes to the state of a queue, for `what-if`: each function returns the changed state."""

from collections import Counter
from dataclasses import replace

from nova_twotier.core.cluster import Host
from nova_twotier.core.jobs import UNKNOWN_CPU, Job, check_size
from nova_twotier.core.queue_state.state import QueueJob, QueueState

#: So that a typo cannot exhaust memory.
MOST_HOSTS = 100_000


class InvalidChange(ValueError):
    """A change that cannot be made to this state; the message says why."""


def add_job(
    state: QueueState,
    size: int,
    estimate: float | None = None,
    cpu: float = UNKNOWN_CPU,
    *,
    walltime: float | None = None,
    user: str | None = None,
    foreground: bool = True,
    background: bool = True,
) -> tuple[QueueState, int]:
    """A job that arrives now; returns its number, too.

    :raises InvalidJob: if there can be no such job.
    """
    check_size(size)  # before so many utilisations are made
    known = [each.job.number for each in state.jobs] + [each.job.number for each in state.past]
    number = 1 + max(known, default=0)
    job = Job(
        number,
        size,
        state.at,
        (cpu,) * size,
        estimate,
        walltime=walltime,
        foreground=foreground,
        background=background,
    )
    return replace(state, jobs=(*state.jobs, QueueJob(job, user))), number


def without_job(state: QueueState, number: int) -> QueueState:
    """A job that waits or runs is gone.

    :raises InvalidChange: if there is none.
    """
    _find(state, number)
    return replace(state, jobs=tuple(each for each in state.jobs if each.job.number != number))


def with_estimate(state: QueueState, number: int, seconds: float) -> QueueState:
    """A job has another estimate.

    :raises InvalidChange: if there is none.
    """
    found = _find(state, number)
    other = replace(found, job=replace(found.job, estimate=seconds))
    return replace(state, jobs=tuple(other if each is found else each for each in state.jobs))


def with_policy(state: QueueState, policy: str) -> QueueState:
    """:raises UnknownPolicy: if there is none of that name."""
    return replace(state, policy=policy)


def add_hosts(state: QueueState, count: int) -> QueueState:
    """More hosts, each like the most frequent of those that are there.

    :raises InvalidChange: if there is none, or there would be too many.
    """
    if len(state.hosts) + count > MOST_HOSTS:
        raise InvalidChange(f"{count} more hosts are too many: give {MOST_HOSTS:,} at most in all")
    shapes = Counter(
        (host.slots, host.tiers)
        for index, host in enumerate(state.hosts)
        if index not in state.leaving
    )
    if not shapes:
        raise InvalidChange("there are no hosts yet, so it is not known what another would be like")
    [((slots, tiers), _count)] = shapes.most_common(1)
    known = {host.name for host in state.hosts}
    names = (f"new{number}" for number in range(1, count + len(known) + 1))
    fresh = [name for name in names if name not in known][:count]
    return replace(state, hosts=(*state.hosts, *(Host(name, slots, tiers) for name in fresh)))


def remove_hosts(state: QueueState, count: int) -> QueueState:
    """Fewer hosts: those with the fewest processes leave, the last of them first.

    What runs there stays until it ends, as on hosts that are drained.

    :raises InvalidChange: if there are not so many.
    """
    staying = [index for index in range(len(state.hosts)) if index not in state.leaving]
    if count > len(staying):
        raise InvalidChange(f"{count} hosts cannot leave: there are {len(staying)}")
    held = Counter(host for each in state.jobs for host in each.hosts)
    held.update(each.host for each in state.servers)
    chosen = set(sorted(staying, key=lambda index: (held[index], -index))[:count])
    hosts = tuple(
        replace(host, enabled=False) if index in chosen else host
        for index, host in enumerate(state.hosts)
    )
    return replace(state, hosts=hosts, leaving=state.leaving | chosen)


def _find(state: QueueState, number: int) -> QueueJob:
    for each in state.jobs:
        if each.job.number == number:
            return each
    raise InvalidChange(f"job {number} neither waits nor runs in this state")
