"""What an operation is, and what a step of it may ask for."""

from collections.abc import Callable
from dataclasses import dataclass, field

from nova_twotier.cloud.errors import CloudError
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import ActionState
from nova_twotier.manager.operations.context import Context


@dataclass(frozen=True, slots=True)
class CloudRequest:
    """A request to Nova, Neutron or Keystone. How often it was answered is counted by its key.

    What the cloud could not take for now (see `CloudError.passing`) does not count.
    """

    key: RequestKey
    run: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request.

    :param key: that of its `CloudRequest`.
    :param final: the cloud took it, or refused it; else the same request may be taken later.
    """

    key: RequestKey
    error: CloudError | None
    final: bool


@dataclass(slots=True)
class Step:
    """Requests to make now; `state` is set when the action is over, `reason` when it failed.

    :param freed: its slots can be given to others, although it is not over.
    :param alone: although it failed, what was decided besides holds good.
    """

    requests: list[CloudRequest] = field(default_factory=list)
    state: ActionState | None = None
    reason: str = ""
    freed: bool = False
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """What happened to a job, for its record."""

    job: int
    kind: str
    detail: str = ""


class Operation:
    """Base of the operations: each is one kind of action, and keeps nothing itself."""

    def begin(self, context: Context) -> None:
        """Before the first step: the job enters its new state."""

    def advance(self, context: Context) -> Step:
        """The next step, from what is seen; none of the action's requests is under way."""
        raise NotImplementedError

    def answered(self, context: Context, outcome: Outcome) -> None:
        """A request was answered; what the cloud could not take for now does not count."""
        if outcome.final:
            context.count(outcome.key)

    def close(self, context: Context) -> list[Note]:
        """After the effect was observed: the job's record follows."""
        raise NotImplementedError

    def undo(self, context: Context) -> list[Note]:
        """After the action failed: the job's record says what is true now."""
        raise NotImplementedError


def done() -> Step:
    return Step(state=ActionState.DONE)


def failed(context: Context, reason: str, public_reason: str = "") -> Step:
    """Give the action up.

    :param reason: for operators: becomes the action's reason, and is logged.
    :param public_reason: for the owners of its jobs, if they may not read the reason: texts of
        Placement and Nova's faults name hosts, and the servers of others.
    """
    context.fail(reason, public_reason)
    return Step(state=ActionState.FAILED, reason=reason)
