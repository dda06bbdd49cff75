"""Which jobs may not be moved or preempted yet, and whose slots earlier jobs wait for meanwhile."""

import math
from collections.abc import Container, Iterable, Mapping, Sequence

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import Cluster
from nova_twotier.core.jobs import Job as CoreJob
from nova_twotier.db.models import Action, Job
from nova_twotier.manager import ongoing
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs

#: Seconds until the manager checks again whether Nova is done with the servers of a job.
RECHECK = 5.0


def settled(
    running: Iterable[Job], pinned: Container[int], seen: Observation, options, now: float
) -> dict[int, float]:
    """Jobs that may not be moved or preempted for now, by number, and until when.

    Nothing is decided about a job while Nova is busy with its servers, or after something was
    refused.

    :param pinned: numbers of those of which nobody knows until when.
    :param options: the options of group `[manager]`.
    """
    found = {}
    for job in running:
        end = job.not_before
        if options.min_run_time:
            end = max(end, _later(job.run_since, options.min_run_time))
        if options.swap_hysteresis:
            end = max(end, _later(job.swapped_at, options.swap_hysteresis))
        if seen.busy(job):
            end = max(end, now + RECHECK)
        if job.number in pinned:
            end = math.inf
        if end > now:
            found[job.number] = end
    return found


def recent(
    settled: Mapping[int, float],
    placing: Iterable[Action],
    jobs: Jobs,
    seen: Observation,
    now: float,
) -> frozenset[int]:
    """The jobs, by number, that cannot be preempted yet, only because they have just started or
    changed tier.

    Jobs whose owners could prolong that are left out: nobody waits for their slots.

    :param settled: as `settled` returns it.
    :param placing: the starts under way.
    """
    starting = {action.number for action in placing if not ongoing.is_late(action, now)}
    ran = {
        number
        for number, end in settled.items()
        if end < math.inf and jobs[number].not_before <= now and not seen.busy(jobs[number])
    }
    return frozenset(ran | starting)


def may_resume(
    cluster: Cluster, job: CoreJob, hosts: Sequence[int], recent: frozenset[int]
) -> bool:
    """Whether a suspended job could start on its hosts, at the latest once it may preempt the
    recent jobs there."""
    cleared = cluster.cleared(recent, job)
    return (
        cleared is None
        or (job.foreground and cleared.takes(FG, hosts))
        or (job.background and cluster.takes(BG, hosts))
    )


def _later(at: float | None, pause: float) -> float:
    return -math.inf if at is None else at + pause
