"""A queue as an estimator is told of it: what a decision left, and how far the jobs have come."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from nova_twotier.core.cluster import UNMANAGED
from nova_twotier.core.policies import Policy
from nova_twotier.core.prediction.present import Present
from nova_twotier.core.queue import Queue
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.db.models import Job
from nova_twotier.db.predictions import owner
from nova_twotier.db.states import JobState
from nova_twotier.manager.departures import LEAVING
from nova_twotier.manager.forecast import PREEMPTIBLE

#: Jobs that stand for others: servers that stay, and what is about to leave.
_STAYING = frozenset(UNMANAGED.values())
_LEAVING = tuple(LEAVING.values())


@dataclass(frozen=True, slots=True)
class Seen:
    """A job as it was when the scene was taken: rows change with the next poll.

    :param owner: as of `db.predictions.owner`.
    :param ran: seconds that it has run since it last began anew.
    :param queued: it has not begun, or waits again.
    :param started: it has started at some time.
    """

    owner: str | None
    ran: float
    queued: bool
    started: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """
    :param snapshot: a copy, which nobody else uses, of the state after the last decision: with the
        jobs that are first in the queue only.
    :param beyond: number of waiting jobs behind these.
    :param seen: the jobs in it, by number.
    """

    now: float
    snapshot: Snapshot
    beyond: int
    seen: Mapping[int, Seen]

    def present(self, policy: Policy, done: Mapping[int, float]) -> Present:
        """What an estimator is told.

        :param done: seconds of work that jobs have done, by number.
        """
        # Servers that make way for jobs never end by themselves.
        left = {PREEMPTIBLE: math.inf} | dict.fromkeys(_LEAVING, 0.0)
        # Those that are over, or about to be, keep their slots for a moment.
        left |= {
            number: 0.0
            for number in self.snapshot.cluster.runs
            if number > 0 and number not in self.seen
        }
        users = {number: seen.owner for number, seen in self.seen.items()}
        return Present(self.snapshot, policy, self.now, done, users, left=left, staying=_STAYING)


def take(after: Snapshot, jobs: Mapping[int, Job], now: float, most: int) -> Scene:
    """Copy what a prediction needs, within a poll.

    :param after: the state after the last decision.
    :param jobs: that are not over, by number.
    :param most: of the waiting jobs, so many at most.
    """
    waiting, queue = len(after.queue), after.queue
    first = queue.copy() if waiting <= most else Queue(islice(queue, most))
    for core in list(first):
        if core.number not in jobs:
            first.remove(core)
    # In the forecast, all that is on its way has arrived: none is away.
    snapshot = Snapshot(after.cluster.copy(), first, after.since)
    numbers = [*(core.number for core in first), *snapshot.cluster.runs]
    seen = {
        number: Seen(
            owner(job),
            job.ran(now),
            job.state == JobState.QUEUED,
            job.started_at is not None,
        )
        for number in numbers
        if (job := jobs.get(number)) is not None and job.state != JobState.ENDING
    }
    return Scene(now, snapshot, max(0, waiting - most), seen)
