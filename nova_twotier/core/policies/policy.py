"""What every policy is: a pure function from a snapshot to a list of actions."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from nova_twotier.core.actions import Action, How
from nova_twotier.core.jobs import Job
from nova_twotier.core.queue import Queue
from nova_twotier.core.snapshot import Event, Snapshot


class Policy:
    """A scheduling policy; deterministic given its inputs."""

    name: ClassVar[str]
    #: What it does, in a sentence for users.
    summary: ClassVar[str]
    #: Tiers that it makes use of; three stand for any number.
    tiers: ClassVar[int] = 1
    #: Whether it kills jobs, so that their work is lost.
    kills: ClassVar[bool] = False
    #: Whether it goes by the bandwidth of jobs.
    bandwidth: ClassVar[bool] = False
    #: Whether it asks the cluster if a job fits, and so heeds a network that guarantees bandwidth.
    embeds: ClassVar[bool] = False

    def schedule(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        """The actions that follow from `event`, in the order in which they can be carried out.

        The snapshot stays as it is.
        """
        return self.play(snapshot.copy(), event, now)

    def play(self, snapshot: Snapshot, event: Event, now: float) -> list[Action]:
        """As `schedule`, but uses the snapshot up: it is left as it is after the actions.

        For those who have no more use for it as it was, or want to know how things are afterwards.
        """
        raise NotImplementedError

    def reason(self, snapshot: Snapshot, job: Job) -> str:
        """Why `job` of the queue waits, in words for its owner."""
        raise NotImplementedError

    def reasons(self, snapshot: Snapshot) -> Callable[[Job], str]:
        """`reason` for many jobs of a snapshot that stays as it is meanwhile.

        What is the same for all of them is found once.
        """
        return partial(self.reason, snapshot)

    def background_only(self) -> str:
        """Why a job waits that may not run in the foreground, under a policy of one tier."""
        return f"may run in the background only, of which the policy {self.name} makes no use"


#: By these names in what runs for every start: to look up a member takes five times longer.
IMMEDIATE, BACKFILLED = How.IMMEDIATE, How.BACKFILLED
RESERVED, TENTATIVE = How.RESERVED, How.TENTATIVE


def in_turn(queue: Queue, job: Job) -> How:
    """How a job that has just left the queue starts: in its turn, or past an earlier arrival."""
    return BACKFILLED if queue.passed_by(job) else IMMEDIATE
