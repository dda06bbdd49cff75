"""Suspended jobs can only resume on their own hosts, which no policy knows."""

from collections.abc import Iterable, Mapping

from nova_twotier.core import actions as decided
from nova_twotier.core.cluster import Cluster, OutOfSlots
from nova_twotier.core.jobs import Job
from nova_twotier.core.reasons import waits
from nova_twotier.core.snapshot import Snapshot

#: Why a suspended job waits although slots are free.
ELSEWHERE = waits.SUSPENDED_HOSTS()


def without(
    after: Snapshot,
    decision: Iterable[decided.Action],
    fixed: Mapping[int, tuple[int, ...] | None],
    cores: Mapping[int, Job],
) -> Snapshot:
    """How things are after a decision, without the waiting jobs that are suspended.

    :param fixed: the hosts on which each saved job has to resume; None: it may start on any.
    :param cores: the jobs of the queue, by number.
    """
    waiting = after.queue.copy()
    started = {each.job.number for each in decision if isinstance(each, decided.Start)}
    for number in fixed.keys() - started:
        if fixed[number] is not None:
            waiting.remove(cores[number])
    return after.on(after.cluster, waiting)


def stuck(
    decision: Iterable[decided.Action], cluster: Cluster, fixed: dict[int, tuple[int, ...]]
) -> set[int]:
    """The numbers of jobs that the policy resumes, but whose own hosts have no slots for them.

    :param fixed: the hosts of those that may start on no others.
    """
    starts = [
        action
        for action in decision
        if isinstance(action, decided.Start) and action.job.number in fixed
    ]
    if not starts:
        return set()
    after = cluster.copy()
    after.apply(action for action in decision if not isinstance(action, decided.Start))
    found = set()
    for start in starts:
        hosts = fixed[start.job.number]
        try:
            after.start(start.job, start.tier, hosts)
        except OutOfSlots:
            found.add(start.job.number)
    return found
