"""What an operation is, and what it may use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nova_twotier.ledger.placement import Placement
from nova_twotier.manager.cloud import Cloud, Server
from nova_twotier.manager.db.models import Action, ActionState, Job
from nova_twotier.manager.observation import Observation

#: Placement wants a project and a user for each consumer; job entries belong to nobody's quota.
OWNER = {"project": "twotier", "user": "twotier"}


@dataclass(frozen=True, slots=True)
class Environment:
    """Cloud and ledger, the limits of patience, and the time."""

    cloud: Cloud
    placement: Placement
    attempts: int
    boot_grace: float
    close: Callable[[Mapping[str, int]], None]
    threshold: float
    now: float


@dataclass(frozen=True, slots=True)
class Call:
    """A request to Nova; `key` says what it is about. How often it was made is counted by key."""

    key: str
    run: Callable[[], None]


@dataclass(slots=True)
class Step:
    """Requests to make now; `state` is set when the action is over, `reason` when it failed."""

    calls: list[Call] = field(default_factory=list)
    state: ActionState | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What happened to a job, for its record."""

    job: int
    kind: str
    detail: str = ""


Jobs = Mapping[int, Job]


class Operation:
    """Base of the operations; `jobs` are those that are not over, by number."""

    def begin(self, action: Action, jobs: Jobs) -> None:
        """Before the first step: the job enters its new state."""

    def advance(self, action: Action, jobs: Jobs, seen: Observation, env: Environment) -> Step:
        """The next step, from what is seen."""
        raise NotImplementedError

    def close(self, action: Action, jobs: Jobs, env: Environment) -> list[Note]:
        """After the effect was observed: the job's record follows."""
        raise NotImplementedError

    def undo(self, action: Action, jobs: Jobs, env: Environment) -> list[Note]:
        """After the action failed: the job's record says what is true now."""
        raise NotImplementedError


def done() -> Step:
    return Step(state=ActionState.DONE)


def failed(reason: str) -> Step:
    return Step(state=ActionState.FAILED, reason=reason)


def still_claiming(action: Action, seen: Observation) -> bool:
    """Whether a server that the action took away still holds a slot.

    Nova drops a deleted server from its list a moment before it drops the claim.
    """
    return any(key.split()[-1] in seen.claims for key in action.begun)


def tried(action: Action, key: str) -> int:
    """How often a request was made, as recorded before each."""
    return action.begun.get(key, 0)


def defect(gang: list[Server], size: int) -> str:
    """Why a gang cannot be worked with: servers gone, or in ERROR; empty if it can."""
    if len(gang) < size:
        return f"{size - len(gang)} of its {size} servers are gone"
    if len(gang) > size:
        return f"it has {len(gang)} servers for {size} processes"
    for server in gang:
        if server.status == "ERROR":
            return f"server {server.id} is in ERROR: {server.fault or 'Nova does not say why'}"
    return ""
