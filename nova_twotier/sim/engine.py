"""The event loop: from one arrival or end of a job to the next, with one pass of the policy each.

A job that outruns what was predicted of it is an event, too.

All events of one instant are handled together. Time is in seconds of the trace.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from nova_twotier.core.cluster import Cluster
from nova_twotier.core.fair_share import is_ahead
from nova_twotier.core.policies import Policy
from nova_twotier.core.snapshot import ENDED, EVENTS, Event, Snapshot
from nova_twotier.sim.estimates import Predictions
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.running_jobs import RunningJobs
from nova_twotier.sim.sharing import Sharing

_ARRIVAL, _FOREGROUND = Event.ARRIVAL.value, Event.FOREGROUND.value

#: Called after a pass, when its actions have been carried out: the snapshot, which stays as it is,
#: the waiting and the running jobs by number, and the time.
Watch = Callable[[Snapshot, Mapping[int, Execution], Mapping[int, Execution], float], None]


class Stuck(Exception):
    """Jobs wait or run, but no event will ever follow: an error in a policy or a model."""


def run(
    arrivals: Iterable[Execution],
    policy: Policy,
    cluster: Cluster,
    running: RunningJobs,
    watch: Watch | None = None,
    sharing: Sharing | None = None,
    until: float = math.inf,
    predictions: Predictions | None = None,
) -> Iterator[Execution]:
    """Simulate until the last job has ended.

    :param arrivals: jobs in the order in which they arrive; read one job ahead.
    :param sharing: None: no fair share.
    :param until: nothing happens after this time; what `watch` was given last stays as it is then.
    :param predictions: None: the policy is told the jobs' own estimates.
    :returns: the jobs, each as it ends.
    :raises Stuck: if jobs never end.
    """
    snapshot = Snapshot(cluster)
    queue = snapshot.queue
    waiting: dict[int, Execution] = {}
    arrivals = iter(arrivals)
    coming = next(arrivals, None)
    arrival = coming.job.arrival if coming else math.inf
    while True:
        end = running.next_end()
        now = end if end < arrival else arrival
        if now == math.inf:
            break
        if predictions is not None:
            now = min(now, predictions.next_due)
        if now > until:
            return
        bits = 0
        if end == now:
            for ended in running.take_ended(now):
                cluster.remove(ended.job)
                if sharing is not None:
                    sharing.left(ended.job, now)
                if predictions is not None:
                    predictions.left(ended.job, now)
                bits |= ENDED[ended.tier]
                yield ended
        while coming and arrival <= now:
            job = coming.job if sharing is None else sharing.place(coming.job)
            if predictions is not None:
                job = predictions.place(job)
            job = coming.job = policy.admit(job)
            waiting[job.number] = coming
            queue.add(job)
            bits |= _ARRIVAL
            if (sharing is not None or job.precedence < 0) and is_ahead(snapshot, job):
                bits |= _FOREGROUND
            coming = next(arrivals, None)
            arrival = coming.job.arrival if coming else math.inf
        if predictions is not None and predictions.correct(snapshot, running.jobs, now):
            bits |= _FOREGROUND
        elif not bits and now < end:
            continue
        actions = policy.schedule(snapshot, EVENTS[bits], now)
        if actions:
            running.carry_out(actions, waiting, now)
            if sharing is not None:
                sharing.carried_out(actions, now)
            if predictions is not None:
                predictions.carried_out(actions, now)
        running.settle(now)
        if watch:
            watch(snapshot, waiting, running.jobs, now)
    if waiting or running.jobs:
        raise Stuck(
            f"{len(waiting)} jobs wait and {len(running.jobs)} run for ever under {policy.name}"
        )
