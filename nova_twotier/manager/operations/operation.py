"""The base class of operations, and the steps, requests and outcomes that they exchange."""

from collections.abc import Callable
from dataclasses import dataclass, field

from nova_twotier.cloud.errors import CloudError
from nova_twotier.core.reasons import Reason
from nova_twotier.db.plans import EndPlan
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import ActionState
from nova_twotier.manager.operations.context import Context


@dataclass(frozen=True, slots=True)
class CloudRequest:
    """A request to Nova, Neutron or Keystone. Its answers are counted by its key.

    A passing error (see `CloudError.passing`) does not count.

    :param asks: it asks a host, which may take long: nothing waits for the answer.
    :param before: the error that the same request met the last time: it is not logged once more,
        but a success is.
    """

    key: RequestKey
    run: Callable[[], object]
    asks: bool = False
    before: CloudError | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a request.

    :param key: that of its `CloudRequest`.
    :param final: the cloud accepted or refused it; otherwise the same request may succeed later.
    """

    key: RequestKey
    error: CloudError | None
    final: bool


@dataclass(slots=True)
class Step:
    """Requests to make now; `state` is set when the action is over.

    :param freed: its slots can be given to other jobs although the action is not over.
    :param alone: the action failed, but the rest of the same decision is still valid.
    :param end: the action failed, and the end of its job by this plan goes on from there: nothing
        is undone.
    """

    requests: list[CloudRequest] = field(default_factory=list)
    state: ActionState | None = None
    freed: bool = False
    alone: bool = False
    end: EndPlan | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """What happened to a job, for its record."""

    job: int
    kind: str
    reason: Reason | None = None


class Operation:
    """Base class of operations: one subclass for each kind of action, without state of its own."""

    def begin(self, context: Context) -> None:
        """Put the job into its new state, before the first step."""

    def advance(self, context: Context) -> Step:
        """The next step, from the observation; none of the action's requests is under way."""
        raise NotImplementedError

    def answered(self, context: Context, outcome: Outcome) -> None:
        """Count the answer to a request, except a passing error."""
        if outcome.final:
            context.count(outcome.key)

    def close(self, context: Context) -> list[Note]:
        """Update the job's record after the action succeeded."""
        raise NotImplementedError

    def undo(self, context: Context) -> list[Note]:
        """Update the job's record after the action failed."""
        raise NotImplementedError


def done() -> Step:
    return Step(state=ActionState.DONE)


def failed(context: Context, reason: Reason, detail: str = "") -> Step:
    """Give up the action.

    :param detail: for operators only: texts from Placement and Nova's faults name hosts and other
        tenants' servers.
    """
    context.fail(reason, detail)
    return Step(state=ActionState.FAILED)
