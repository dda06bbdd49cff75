"""The base class of policies: pure functions from a snapshot to a list of actions."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from nova_twotier.core.actions import Action, StartKind
from nova_twotier.core.jobs import Job
from nova_twotier.core.queue import Queue
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.core.snapshot import Event, Snapshot


class Policy:
    """A scheduling policy; deterministic given its inputs.

    :param factor: weight of the run time in the `rank` of policies that order by deadline; the
        others ignore it.
    """

    name: ClassVar[str]
    #: What it does, in a sentence for users.
    summary: ClassVar[str]
    #: Number of tiers that it uses; 3 stands for any number.
    tiers: ClassVar[int] = 1
    #: Whether it kills jobs, so that their work is lost.
    kills: ClassVar[bool] = False
    #: Whether it considers the bandwidth of jobs.
    bandwidth: ClassVar[bool] = False
    #: Whether it asks the cluster if a job fits, and so works with guaranteed bandwidth.
    embeds: ClassVar[bool] = False
    #: Whether it remembers earlier passes, so that each run needs an instance of its own and no
    #: other instance can continue the run.
    remembers: ClassVar[bool] = False

    def __init__(self, factor: float = 1.0):
        self.factor = factor

    def rank(self, job: Job) -> float:
        """The time, in seconds, by which jobs are ordered: by default their arrival.

        It must not change while a job waits or runs: queue and cluster are sorted by it. A job of
        which something else is known from now on has to be taken out and shown anew.
        """
        return job.arrival

    def admit(self, job: Job) -> Job:
        """The job as this policy has to be shown it, from its arrival to its end."""
        rank = self.rank(job)
        return job if rank == job.arrival else replace(job, rank=rank)

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        """The actions that follow from `event`, in the order in which they can be carried out.

        They are applied to the snapshot, which shows afterwards what is left; who needs it as it
        was gives a copy.
        """
        raise NotImplementedError

    def reasons(self, snapshot: Snapshot) -> Callable[[Job], Reason]:
        """A function that says why a job of the queue waits, while the snapshot does not change.

        Whatever is the same for all of them is computed once.
        """
        raise NotImplementedError

    def background_only(self) -> Reason:
        """Why a background-only job waits under a policy with one tier."""
        return waits.TIER_UNUSED(policy=self.name)


#: Shortcuts for code that runs for every start: looking up an enum member takes five times longer.
IMMEDIATE, BACKFILLED = StartKind.IMMEDIATE, StartKind.BACKFILLED
RESERVED, TENTATIVE = StartKind.RESERVED, StartKind.TENTATIVE


def in_turn(queue: Queue, job: Job) -> StartKind:
    """How a job that has just left the queue starts: in its turn, or past an earlier arrival."""
    return BACKFILLED if queue.passed_by(job) else IMMEDIATE
