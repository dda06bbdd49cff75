"""Finds the preempted jobs that a decision starts again elsewhere and that can be migrated there.

The policies of TPDS 2013 (section 4.2) suspend a preempted job and resume it in the background of
other hosts. Nova can only shelve a server to do so, and its guest then boots anew; a live migration
keeps its memory.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from nova_twotier.core.actions import BG, Action, Evict, Start
from nova_twotier.core.cluster import Cluster, Run
from nova_twotier.db.models import Job
from nova_twotier.db.plans import RelocatePlan
from nova_twotier.db.states import Preemption
from nova_twotier.manager.observation import Observation
from nova_twotier.manager.operations.context import Jobs


def find(
    decision: Iterable[Action], jobs: Jobs, seen: Observation, before: Callable[[], Cluster]
) -> dict[int, RelocatePlan]:
    """How jobs that the decision evicts and starts again in the background migrate there instead.

    Only into slots that were idle already, so that the migration waits for nothing, and everything
    else that was decided may wait for it.

    :param before: the cluster before the decision; called only if needed.
    :returns: by job number.
    """
    decision = list(decision)
    evicted = {each.job.number: each for each in decision if isinstance(each, Evict)}
    starts = [
        each
        for each in decision
        if isinstance(each, Start)
        and each.job.number in evicted
        and each.tier is BG
        and not each.job.mbps
        and is_at_work(jobs[each.job.number], seen)
    ]
    if not starts:
        return {}
    cluster, taken = before(), Counter[int]()
    found = {}
    for start in starts:
        number = start.job.number
        run = cluster.runs.get(number)
        if run is None:
            continue
        after = start.hosts
        changing = _changing(run, after)
        coming = Counter(after[process] for process in changing)
        if all(cluster.room(BG, host) >= taken[host] + count for host, count in coming.items()):
            taken += coming
            moves = [i for i in changing if run.hosts[i] != after[i]]
            job, evict = jobs[number], evicted[number]
            found[number] = RelocatePlan(
                targets={i: seen.hosts[after[i]].name for i in moves},
                origins={i: seen.hosts[run.hosts[i]].name for i in moves},
                vms=tuple(
                    server.id
                    for server in seen.gang(job)
                    if server.index in changing and server.index not in moves
                ),
                by=evict.by.number,
                how=start.how,
                mode=_mode(job),
            )
    return found


def is_at_work(job: Job, seen: Observation) -> bool:
    """Whether all of its servers can be migrated now."""
    gang = seen.gang(job)
    return len(gang) == job.size and all(
        server.status == "ACTIVE" and not server.busy for server in gang
    )


def _changing(run: Run, after: Sequence[int]) -> list[int]:
    """The processes that change their tier or their host."""
    return [
        process
        for process, (old, new) in enumerate(zip(run.hosts, after, strict=True))
        if run.tier is not BG or old != new
    ]


def _mode(job: Job) -> Preemption:
    """What becomes of a job that cannot be migrated: it is to start on other hosts."""
    mode = Preemption(job.preemption)
    return Preemption.SHELVE if mode is Preemption.SUSPEND else mode
