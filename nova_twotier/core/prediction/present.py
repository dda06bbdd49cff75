"""What an estimator is told of a queue, and what it answers."""

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from nova_twotier.core.actions import Start
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies import Policy
from nova_twotier.core.prediction.nodes import Node
from nova_twotier.core.snapshot import Event, Snapshot


class Forecast(NamedTuple):
    """When a job starts and when it ends, in seconds; infinite if it never does.

    `start` of a job that runs already is the time of the forecast.
    """

    start: float
    finish: float


#: Makes a forecast from a tuple of its fields, in two thirds of the time.
make_forecast = partial(tuple.__new__, Forecast)


class Past(NamedTuple):
    """A job that has ended.

    :ivar user: its owner; None: not known.
    :ivar wait: seconds from its arrival to its first start.
    :ivar elapsed: seconds from its first start to its end.
    :ivar work: seconds that it would have run on dedicated slots.
    """

    job: Job
    user: Hashable
    wait: float
    elapsed: float
    work: float


@dataclass(frozen=True)
class Present:
    """A queue at one instant, after a pass of its policy, or before one.

    :param snapshot: the cluster and the waiting jobs; estimators leave it as it is.
    :param now: in the same seconds as the jobs' arrivals.
    :param done: seconds of work that running and preempted jobs have done, by number; absent: 0.
    :param users: the owner of each job, by number; absent: not known.
    :param nodes: what is known of the hosts, in their order; empty: nobody else uses them, and all
        are alike.
    :param cost: seconds that a job loses when it is restored or migrates.
    :param staying: numbers of the runs that stay where they are for ever and are no jobs, such as
        servers that hold slots without the queue; nothing is predicted of them.
    :param pending: what has happened since the last pass, with which a forward run begins; None:
        nothing.
    :param left: seconds of work that are known to be left, by number: infinite for what never ends;
        absent: estimated.
    :param started: called with the first start of each waiting job as a forward run comes to it.
    """

    snapshot: Snapshot
    policy: Policy
    now: float
    done: Mapping[int, float] = field(default_factory=dict)
    users: Mapping[int, Hashable] = field(default_factory=dict)
    nodes: Sequence[Node] = ()
    cost: float = 20.0
    staying: Container[int] = ()
    pending: Event | None = None
    left: Mapping[int, float] = field(default_factory=dict)
    started: Callable[[Start], None] | None = None

    @property
    def shared(self) -> bool:
        """Whether jobs may slow each other down, or others do."""
        return bool(self.nodes) or self.policy.tiers > 1

    def done_by(self, job: Job) -> float:
        return self.done.get(job.number, 0.0)

    def user_of(self, job: Job) -> Hashable:
        return self.users.get(job.number)
