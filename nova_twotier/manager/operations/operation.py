"""What an operation is, and what it may use."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from oslo_log import log as logging

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud, Server
from nova_twotier.cloud.qos import Qos
from nova_twotier.db.models import Action, ActionState, Job
from nova_twotier.ledger import claims
from nova_twotier.ledger.placement import Placement
from nova_twotier.manager.observation import Observation

LOG = logging.getLogger(__name__)

#: Keys in `begun`: what owners are told of a failure; why the action is being undone; since when
#: slots are held by servers that are gone.
TOLD, UNDOING, LEFT = "told", "undoing", "left"
#: Seconds until such slots are taken from them: Nova has forgotten about them.
LEFT_BEHIND = 60.0

#: The fault that owners read: it is of the scheduler, which names no hosts.
NO_HOST = "No valid host was found"


@dataclass(frozen=True, slots=True)
class Environment:
    """Cloud and ledger, the limits of patience, and the time.

    :param polling_since: what took longer than the manager has looked is not late yet: it may have
        been asked for by nobody.
    :param user_data: of a job, by its number, in base64.
    :param qos: Neutron, if it is to guarantee the jobs' bandwidth.
    """

    cloud: Cloud
    placement: Placement
    attempts: int
    boot_grace: float
    close: Callable[[Mapping[str, int]], None]
    threshold: float
    now: float
    preemption_grace: float = 0.0
    operation_timeout: float = math.inf
    polling_since: float = -math.inf
    user_data: Callable[[int], str | None] = lambda _number: None
    qos: Qos | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A request to Nova; `key` says what it is about. How often it was answered is counted by key.

    What Nova could not take for now (see `CloudError.passing`) does not count.
    """

    key: str
    run: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request.

    :param key: that of its `Call`.
    :param final: Nova took it, or refused it; else the same request may be taken later.
    """

    key: str
    error: CloudError | None
    final: bool


@dataclass(slots=True)
class Step:
    """Requests to make now; `state` is set when the action is over, `reason` when it failed.

    :param freed: its slots can be given to others, although it is not over.
    :param alone: although it failed, what was decided besides holds good.
    """

    calls: list[Call] = field(default_factory=list)
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


Jobs = Mapping[int, Job]


class Operation:
    """Base of the operations; `jobs` are those that are not over, by number."""

    def begin(self, action: Action, jobs: Jobs) -> None:
        """Before the first step: the job enters its new state."""

    def advance(self, action: Action, jobs: Jobs, seen: Observation, env: Environment) -> Step:
        """The next step, from what is seen; none of the action's requests is under way."""
        raise NotImplementedError

    def answered(self, action: Action, answer: Answer, now: float) -> None:
        """A request was answered; what Nova could not take for now does not count."""
        if answer.final:
            action.begun = {**action.begun, answer.key: tried(action, answer.key) + 1}

    def close(self, action: Action, jobs: Jobs, env: Environment) -> list[Note]:
        """After the effect was observed: the job's record follows."""
        raise NotImplementedError

    def undo(self, action: Action, jobs: Jobs, env: Environment) -> list[Note]:
        """After the action failed: the job's record says what is true now."""
        raise NotImplementedError


def done() -> Step:
    return Step(state=ActionState.DONE)


def failed(action: Action, reason: str, told: str = "") -> Step:
    """Give up.

    :param reason: for operators: becomes the action's reason, and is logged.
    :param told: for the owners of its jobs (see `told`), if they may not read the reason: texts of
        Placement and Nova's faults name hosts, and the servers of others.
    """
    if told:
        action.begun = {**action.begun, TOLD: told}
    LOG.warning("Action %s of job %s failed: %s", action.kind, action.job, reason)
    return Step(state=ActionState.FAILED, reason=reason)


def told(action: Action) -> str:
    """Why the action failed, as the owners of its jobs may read it."""
    return action.begun.get(TOLD, action.reason)


def touched(action: Action) -> set[str]:
    """The servers that something was requested for."""
    return {key.split()[-1] for key in action.begun}


def still_claiming(action: Action, seen: Observation, env: Environment) -> bool:
    """Whether a server that the action took away still holds a slot.

    Nova drops a deleted server from its list a moment before it drops the claim. A claim that it
    has not dropped after `LEFT_BEHIND` seconds is taken away here.
    """
    held = {claim.vm for claim in seen.all_claims()} & touched(action)
    if not held:
        return False
    if LEFT not in action.begun:
        action.begun = {**action.begun, LEFT: env.now}
    elif env.now >= action.begun[LEFT] + LEFT_BEHIND:
        LOG.warning("Slots of servers that are gone are taken back: %s", ", ".join(sorted(held)))
        claims.vacate(env.placement, seen.hosts, sorted(held))
    return True


def overdue(action: Action, env: Environment, times: int = 1, grace: float = 0.0) -> bool:
    """Whether the action has taken longer than it may, or so many times as long.

    :param grace: seconds that it may take besides.
    """
    since = max(action.begun_at, env.polling_since)
    return env.now >= since + grace + times * env.operation_timeout


def too_long(gang: list[Server], env: Environment) -> str:
    """What an action that is overdue still waits for."""
    waits = (
        f"server {server.id} is {server.status}" + (f" ({server.task})" if server.busy else "")
        for server in sorted(gang, key=lambda server: not server.busy)
    )
    first = next(waits, "slots of its servers are not free")
    return f"not over after {env.operation_timeout:g} s: {first}"


def tried(action: Action, key: str) -> int:
    """How often Nova took a request, or refused it."""
    return action.begun.get(key, 0)


def defect(job: Job, seen: Observation) -> str:
    """Why a job's gang cannot be worked with: servers gone, or lost; empty if it can.

    Its owner may read it; `with_fault` has the rest.
    """
    gang = seen.gang(job)
    if len(gang) < job.size:
        return f"{job.size - len(gang)} of its {job.size} servers are gone"
    if len(gang) > job.size:
        return f"it has {len(gang)} servers for {job.size} processes"
    for server in gang:
        if server.status == "ERROR":
            fault = f": {server.fault}" if server.fault.startswith(NO_HOST) else ""
            return f"server {server.id} is in ERROR{fault}"
        if server.host in seen.down:
            return f"the host of server {server.id} is down"
    return ""


def with_fault(reason: str, gang: list[Server]) -> str:
    """A defect for operators: with what Nova says of the first server in ERROR, if one is."""
    for server in gang:
        if server.status == "ERROR":
            return f"{reason}; Nova says: {server.fault or 'nothing'} (server {server.id})"
    return reason


def has_just_ended(action: Action, gang: list[Server]) -> bool:
    """Whether all processes have ended before anything was asked of the servers."""
    asked = any(server.id in action.begun for server in gang)
    return bool(gang) and not asked and all(server.status == "SHUTOFF" for server in gang)


def remove(action: Action, job: Job, seen: Observation, env: Environment) -> Step | None:
    """The next step towards a job without servers; None when there are none.

    A delete may be repeated, also of a server that Nova is busy with; and it has to be if the host
    that was at it went down, or if it takes too long.
    """
    if gang := seen.gang(job):
        return Step(
            [
                Call(server.id, lambda server=server: env.cloud.delete(server))
                for server in gang
                if server.task != "deleting"
                or server.host in seen.down
                or overdue(action, env, max(1, tried(action, server.id)))
            ]
        )
    return Step() if still_claiming(action, seen, env) else None
