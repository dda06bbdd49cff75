"""The context of a step of an operation: its action and job, the observation, and how to act."""

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from oslo_log import log as logging

from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.qos import Qos
from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import Reason, failures
from nova_twotier.db.models import Action, Job, PlanT
from nova_twotier.db.progress import Progress, RequestKey
from nova_twotier.ledger import claims
from nova_twotier.ledger.placement import Placement
from nova_twotier.manager.observation import Observation

LOG = logging.getLogger(__name__)

#: Seconds after which the manager releases slots of deleted servers that Nova has not dropped.
LEFT_BEHIND = 60.0
#: The only fault that owners may read: the scheduler's, which names no hosts.
NO_HOST = "No valid host was found"

Jobs = Mapping[int, Job]


@dataclass(frozen=True, slots=True)
class Environment:
    """What all actions of a poll share: cloud and ledger, limits, and the time.

    :param polling_since: since when the manager has polled without a long break. Only time after
        that makes an action overdue: before, perhaps no manager was working on it.
    :param user_data: returns a job's user data in base64, by the job's number.
    :param servers_of: returns the servers that were recorded of a job, by the job's number.
    :param each: as `map`; it may read several claims at the same time.
    :param qos: Neutron; None if it does not guarantee the jobs' bandwidth.
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
    preemption_timeout: float = math.inf
    polling_since: float = -math.inf
    user_data: Callable[[int], str | None] = lambda _number: None
    servers_of: Callable[[int], Iterable[str]] = lambda _number: ()
    each: claims.Each = map
    qos: Qos | None = None


@dataclass(frozen=True)
class Context:
    """An action, and everything that a step of its operation needs.

    :param jobs: the open jobs, by number.
    """

    action: Action
    jobs: Jobs
    seen: Observation
    env: Environment

    @functools.cached_property
    def job(self) -> Job:
        """The job of the action; a swap has several, and raises TypeError."""
        return self.jobs[self.action.number]

    def plan(self, of: type[PlanT]) -> PlanT:
        """The action's plan, as the class that actions of its kind have."""
        return self.action.planned(of)

    @property
    def tier(self) -> Tier:
        """The job's present or next tier."""
        return Tier(self.job.tier or "")

    @functools.cached_property
    def gang(self) -> list[Server]:
        return self.seen.gang(self.job)

    @property
    def progress(self) -> Progress:
        return self.action.progress

    def record(self, **changes: Any) -> None:
        """Change fields of the action's progress."""
        self.action.progress = replace(self.action.progress, **changes)

    # Requests

    def tried(self, purpose: str, server: str = "") -> int:
        """How often the cloud accepted or refused a request."""
        return self.progress.attempts.get(RequestKey(purpose, server), 0)

    def exhausted(self, purpose: str, server: str = "") -> bool:
        """Whether a request has used up its attempts."""
        return self.tried(purpose, server) >= self.env.attempts

    def count(self, key: RequestKey) -> None:
        self.record(attempts={**self.progress.attempts, key: self.tried(*key) + 1})

    def ask(self, keys: Iterable[RequestKey]) -> None:
        """Record requests before making them: from now on the action has touched their servers."""
        self.record(attempts={**dict.fromkeys(keys, 0), **self.progress.attempts})

    # Time

    def overdue(self, times: int = 1, grace: float = 0.0, at: float | None = None) -> bool:
        """Whether the action has taken longer than `times` operation timeouts.

        :param grace: additional seconds.
        :param at: whether it had by then; None: now.
        """
        since = max(self.begun_at, self.env.polling_since)
        limit = since + grace + times * self.env.operation_timeout
        return (self.env.now if at is None else at) >= limit

    @property
    def patience(self) -> float:
        """Seconds that saving or moving the job may take, since its guests or its owner could draw
        it out. Jobs whose guests save their work have twice as long."""
        return self.env.preemption_timeout * (2 if self.job.checkpoint else 1)

    def escalated(self, grace: float = 0.0) -> bool:
        """Whether the job's servers are to be deleted, or have been, because it exceeded
        `patience`.

        :param grace: additional seconds.
        """
        if self.progress.escalated_at is not None:
            return True
        if self.env.now < max(self.begun_at, self.env.polling_since) + grace + self.patience:
            return False
        LOG.warning("Job %s begins anew: %s", self.job.label, self.overdue_reason(self.patience))
        self.record(escalated_at=self.env.now)
        return True

    def hangs(self, grace: float = 0.0) -> bool:
        """Whether servers that are still busy may wait for a request that was lost: there is time
        to repeat it before anything is given up.

        :param grace: seconds that it may take besides.
        """
        limit = min(self.patience, self.env.operation_timeout)
        return self.env.now >= max(self.begun_at, self.env.polling_since) + grace + limit / 2

    def escalation_overdue(self) -> bool:
        """Whether Nova does not delete the servers either."""
        since = max(self.progress.escalated_at or 0.0, self.env.polling_since)
        return self.env.now >= since + self.env.operation_timeout

    @property
    def begun_at(self) -> float:
        begun_at = self.action.begun_at
        return self.env.now if begun_at is None else begun_at

    def overdue_reason(self, limit: float | None = None) -> Reason:
        """What an action that is overdue still waits for.

        :param limit: seconds that it had; by default, those of any action.
        """
        limit = self.env.operation_timeout if limit is None else limit
        server = min(self.gang, key=lambda server: not server.busy, default=None)
        if server is None:
            return failures.SLOTS_NOT_FREED(seconds=limit)
        task = server.task if server.busy else None
        return failures.OVERDUE(seconds=limit, server=server.id, status=server.status, task=task)

    # Failure

    def fail(self, reason: Reason, detail: str = "") -> None:
        """Record why the action is given up.

        :param detail: what only operators may read of it.
        """
        self.record(undoing=reason, detail=detail)
        self.action.reason = in_full(reason, detail)
        kind, job = self.action.kind, self.action.job
        LOG.warning("Action %s of job %s failed: %s", kind, job, self.action.reason)

    @property
    def failure(self) -> Reason:
        """Why the action is given up.

        :raises RuntimeError: if it is not.
        """
        reason = self.progress.undoing
        if reason is None:
            raise RuntimeError(f"action {self.action.kind} of job {self.action.job} goes on")
        return reason

    # The gang

    def defect(self) -> Reason | None:
        return defect(self.job, self.seen)

    def fault(self) -> str:
        """For operators: Nova's fault of the first server in ERROR; empty if there is none."""
        for server in self.gang:
            if server.status == "ERROR":
                return f"Nova says: {server.fault or 'nothing'} (server {server.id})"
        return ""

    def still_claiming(self) -> bool:
        """Whether slots are still claimed by servers that the action deleted or saved, or that were
        the job's and that Nova no longer has.

        Nova removes a deleted server from its list a moment before it drops the claim. This method
        drops a claim that Nova has not dropped after `LEFT_BEHIND` seconds.
        """
        gone = set(self.env.servers_of(self.job.number)).difference(each.id for each in self.gang)
        claiming = {claim.vm for claim in self.seen.all_claims()}
        held = (self.progress.servers | gone) & claiming
        if not held:
            return False
        vacated_at = self.progress.vacated_at
        if vacated_at is None:
            self.record(vacated_at=self.env.now)
        elif self.env.now >= vacated_at + LEFT_BEHIND:
            left = sorted(held)
            LOG.warning("Releasing the slots of deleted servers: %s", ", ".join(left))
            claims.vacate(self.env.placement, self.seen.hosts, left, self.env.each)
        return True

    def vacate(self) -> None:
        """Release the slots of the gang; its servers stay where they are."""
        vms = [server.id for server in self.gang]
        claims.vacate(self.env.placement, self.seen.hosts, vms, self.env.each)

    def release(self) -> None:
        """Remove the job's entry from the ledger, with its links."""
        claims.release(self.env.placement, self.job.uuid)


def in_full(reason: Reason, detail: str) -> str:
    """A reason as operators read it."""
    return f"{reason}; {detail}" if detail else str(reason)


def defect(job: Job, seen: Observation) -> Reason | None:
    """Why a job's gang is unusable, such as missing servers; None if it is usable.

    The owner may read it; `Context.fault` is what only operators may read.
    """
    gang = seen.gang(job)
    if len(gang) < job.size:
        return failures.SERVERS_GONE(missing=job.size - len(gang), size=job.size)
    if len(gang) > job.size:
        return failures.TOO_MANY_SERVERS(servers=len(gang), size=job.size)
    for server in gang:
        if server.status == "ERROR":
            if server.fault.startswith(NO_HOST):
                return failures.NO_VALID_HOST(server=server.id, fault=server.fault)
            return failures.SERVER_ERROR(server=server.id)
        if server.host in seen.down:
            return failures.HOST_DOWN(server=server.id)
    return None
