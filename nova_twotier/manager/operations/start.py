"""Start a job as a gang in one tier: boot all its servers at once, or bring saved ones back."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from oslo_log import log as logging

from nova_twotier.cloud.boot_errors import BootRefused
from nova_twotier.cloud.errors import CloudError, Unfit, shortage
from nova_twotier.cloud.servers import Server
from nova_twotier.core.reasons import Effect, Reason, changes, failures, waits
from nova_twotier.db.models import costly_pause, pause
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.progress import Refusal, RequestKey
from nova_twotier.db.states import JobState, Preemption
from nova_twotier.ledger import claims, names
from nova_twotier.ledger.placement import Conflict, NotFound, StaleGeneration
from nova_twotier.manager.operations import bandwidth
from nova_twotier.manager.operations.context import NO_HOST, Context, in_full
from nova_twotier.manager.operations.gang import (
    NOTICE,
    RESTORE,
    SAVING,
    UNDO,
    all_saved,
    give_up,
    notify,
    paced,
    remove,
    request,
    reset,
    save,
)
from nova_twotier.manager.operations.operation import (
    CloudRequest,
    Note,
    Operation,
    Outcome,
    Step,
    done,
    failed,
)

LOG = logging.getLogger(__name__)

BOOT = "boot"
BAD_REQUEST = 400


class NoStart(Exception):
    """The job does not start.

    :param detail: what only operators may read of it.
    :param crowded_out: others have taken the slots or links that it was to get.
    """

    def __init__(self, reason: Reason, detail: str = "", crowded_out: bool = False):
        super().__init__(str(reason))
        self.reason, self.detail, self.crowded_out = reason, detail, crowded_out


class Start(Operation):
    def begin(self, context: Context) -> None:
        job = context.job
        job.state = JobState.RESTORING if job.saved else JobState.STARTING
        job.tier = context.plan(StartPlan).tier
        context.record(waited_for=job.reason)
        job.reason = None

    def answered(self, context: Context, outcome: Outcome) -> None:
        super().answered(context, outcome)
        purpose, error = outcome.key.purpose, outcome.error
        if purpose == BOOT:
            taken = error is None or error.taken
            context.record(booted_at=context.env.now if taken else None)
        if error is None or not outcome.final or context.progress.undoing:
            return
        if refusal := _refusal(error, purpose):
            context.record(refusal=refusal)

    def advance(self, context: Context) -> Step:
        if context.progress.undoing:
            return self._take_back(context)
        try:
            if refusal := context.progress.refusal:
                raise NoStart(refusal.reason, refusal.detail)
            bring_up = self._restore if context.job.saved else self._boot
            step = bring_up(context) or self._settle(context)
            if step.state is None and context.overdue():
                raise NoStart(context.overdue_reason())
            return step
        except NoStart as trouble:
            context.record(
                undoing=trouble.reason,
                detail=trouble.detail,
                crowded_out=trouble.crowded_out,
            )
            context.job.reason = trouble.reason.led_to(Effect.NOT_STARTED)
            return self._take_back(context)

    def _boot(self, context: Context) -> Step | None:
        job, env, gang = context.job, context.env, context.gang
        if _has_late_servers(context) and (step := remove(context)):
            return step
        if len(gang) >= job.size:
            return None
        # Some or all are missing: Nova may still be working on the request, and makes the servers
        # one by one before it answers. As long as there are more of them, it is at work.
        if len(gang) > context.progress.made:
            context.record(made=len(gang), booted_at=env.now)
        booted_at = context.progress.booted_at
        if booted_at is not None and env.now < booted_at + env.boot_grace:
            return Step()
        if gang or context.exhausted(BOOT):
            raise NoStart(failures.INCOMPLETE(made=len(gang), size=job.size))
        if job.requested_action:
            raise NoStart(failures.REQUESTED(action=job.requested_action))
        plan = context.plan(StartPlan)
        # Nothing was asked of Nova yet, in this action or before: that is recorded beforehand.
        first = job.never_begun and not context.progress.attempts
        self._admit(context, plan.links)
        context.record(booted_at=env.now)
        hints: dict[str, Any] = {"near": plan.near} if plan.near else {}
        if plan.max_mbps:
            hints["max_mbps"] = plan.max_mbps
        if first:
            hints["first"] = True
        boot = partial(env.cloud.boot, job, env.user_data(job.number), **hints)
        return Step([CloudRequest(RequestKey(BOOT), boot)])

    def _restore(self, context: Context) -> Step | None:
        gang = context.gang
        if any(server.status == "SUSPENDED" for server in gang):
            context.record(was_suspended=True)
            self._seat(context)
        away = "SUSPENDED" if context.progress.was_suspended else "SHELVED_OFFLOADED"
        requests = []
        for server in gang:
            if server.busy or server.status != away:
                continue
            if context.exhausted(RESTORE, server.id):
                raise NoStart(failures.NOT_RESTORED(server=server.id, tier=context.tier))
            requests.append(request(RESTORE, server, _bringing_back(context, server)))
        if requests:
            self._admit(context, context.plan(StartPlan).links)
            return Step(requests)
        # The notice that its guests had is void.
        requests = [
            notify(context, server, None)
            for server in gang
            if server.notice and not server.busy and not context.tried(NOTICE, server.id)
        ]
        return Step(requests) if requests else None

    @staticmethod
    def _seat(context: Context) -> None:
        """Suspended servers can only resume where they are: all of them get a slot, or none."""
        seats = {server.id: server.host or "" for server in context.gang}
        env, tier = context.env, context.tier
        try:
            claims.seat(env.placement, context.seen.hosts, seats, tier, env.each)
        except StaleGeneration:
            raise
        except Conflict as error:
            raise NoStart(waits.SUSPENDED_HOSTS(), str(error), crowded_out=True) from error

    @staticmethod
    def _admit(context: Context, links: Mapping[str, int]) -> None:
        """Write the job's entry in the ledger: there the scheduler finds its tier and bandwidth."""
        job, env = context.job, context.env
        try:
            claims.admit(
                env.placement,
                job.uuid,
                job.size,
                context.tier,
                project=job.project_id or names.JOB_OWNER["project"],
                user=env.cloud.boot_request,
                pool=job.pool,
                links=links,
            )
        except StaleGeneration:
            raise
        except (Conflict, NotFound) as error:
            if not links:
                raise
            raise NoStart(failures.BANDWIDTH_TAKEN(), str(error), crowded_out=True) from error

    def _settle(self, context: Context) -> Step:
        """Done when the whole gang is up, with slots in the tier and within its bandwidth."""
        job, gang = context.job, context.gang
        if reason := context.defect():
            if refusal := _quota_was_taken(context):
                context.record(refusal=refusal)
                raise NoStart(refusal.reason, refusal.detail)
            if _crowded_out(context):
                detail = in_full(reason, context.fault())
                raise NoStart(failures.SLOTS_TAKEN(), detail, crowded_out=True)
            raise NoStart(reason, context.fault())
        if not all(server.settled for server in gang):
            if job.requested_action and not job.saved:
                # Nova may never finish with them, but deletes them even so.
                raise NoStart(failures.REQUESTED(action=job.requested_action))
            return Step()
        if not context.seen.in_tier(job, context.tier):
            raise NoStart(failures.WRONG_TIER(tier=context.tier))
        self._verify(context)
        requests = bandwidth.guarantee(context)
        return Step(requests) if requests else done()

    def _verify(self, context: Context) -> None:
        """Release bandwidth that it does not need where Nova has placed it."""
        job, seen, plan = context.job, context.seen, context.plan(StartPlan)
        needs = seen.needs(job, seen.places(job))
        for link, mbps in needs.items():
            if mbps > plan.links.get(link, 0):
                detail = (
                    f"it needs {mbps} Mbit/s on link {link}, of which {plan.links.get(link, 0)} "
                    "are reserved: is VirtualClusterFilter enabled?"
                )
                raise NoStart(failures.LESS_BANDWIDTH(), detail)
        if needs != plan.links:
            LOG.info("Job %s needs less of the network than planned: %s", job.label, needs)
            self._admit(context, needs)
            context.action.plan = replace(plan, links=needs)

    @staticmethod
    def _take_back(context: Context) -> Step:
        """All or none: delete what was booted, save again what was restored; then fail."""
        step: Step | None
        if not context.job.saved:
            step = remove(context)
        elif context.defect() or context.overdue(2):
            step = None  # the next poll sees what is broken about the gang, and repairs it
        else:
            mode = Preemption.SUSPEND if context.progress.was_suspended else Preemption.SHELVE
            step = save(context, mode, UNDO)
            if step.requests or not all_saved(context, mode):
                step = paced(context, step)
                if context.overdue():
                    step.requests += reset(context, SAVING)
                    # Until then, an administrator of Nova's database can still save its work.
                    last = context.job.failures + 1 >= context.env.attempts
                    step.requests += give_up(context) if last else []
            elif mode is Preemption.SUSPEND:
                context.vacate()
                step = None
            elif not context.still_claiming():
                step = None
        if step is None:
            context.release()
            step = failed(context, context.failure, context.progress.detail)
            step.alone = _short_of_quota(context)
        return step

    def close(self, context: Context) -> list[Note]:
        job, plan, now = context.job, context.plan(StartPlan), context.env.now
        restored = job.state == JobState.RESTORING
        job.state, job.saved, job.how = JobState.RUNNING, False, plan.how
        job.reset_backoff()
        job.restores += restored
        job.runs += 1
        job.run_since = now
        if job.started_at is None:
            job.started_at = now
        job.reason = None
        reason = changes.STARTS[plan.how](tier=plan.tier)
        return [Note(job.number, "restored" if restored else "started", reason)]

    def undo(self, context: Context) -> list[Note]:
        job, env, progress = context.job, context.env, context.progress
        job.state, job.tier = JobState.QUEUED, None
        if _short_of_quota(context):
            job.reason = context.failure
            # Those that made room for it come back meanwhile, and are not to leave again at once.
            costly = context.plan(StartPlan).freed > 0
            job.back_off(env.now, costly_pause if costly else pause)
        else:
            job.reason = context.failure.led_to(Effect.NOT_STARTED)
            if progress.crowded_out:
                job.back_off(env.now)
            else:
                unfit = progress.refusal is not None and progress.refusal.unfit
                job.failures = env.attempts if unfit else job.failures + 1
                job.not_before = env.now + pause(job.failures)
        if job.reason == progress.waited_for and not job.failures:
            return []  # its reason is known already
        return [Note(job.number, "not started", context.failure)]


def _has_late_servers(context: Context) -> bool:
    """Whether there are useless servers of a boot that Nova carried out after its start was undone.

    They are no failure of this start, which has asked for none yet.
    """
    if RequestKey(BOOT) in context.progress.attempts:
        return False
    deleted, claims = context.progress.servers, context.seen.claims
    held = (claims[server.id].tier for server in context.gang if server.id in claims)
    # Its earlier start may have been one in the other tier.
    elsewhere = any(tier is not context.tier for tier in held)
    return bool(deleted or elsewhere or (context.gang and context.defect()))


def _bringing_back(context: Context, server: Server) -> Callable[[], None]:
    """The request that brings a server back: of a job with bandwidth, to the host in its plan."""
    cloud, hosts = context.env.cloud, context.plan(StartPlan).hosts
    if context.progress.was_suspended:
        return partial(cloud.resume, server)
    unshelve = partial(cloud.unshelve, server)
    if context.tried(RESTORE, server.id):
        unshelve = partial(unshelve, again=True)
    return partial(unshelve, hosts[server.index]) if hosts else unshelve


def _crowded_out(context: Context) -> bool:
    """Whether Nova found no hosts because the slots that were free have been taken."""
    job, seen, gang = context.job, context.seen, context.gang
    if not any(server.fault.startswith(NO_HOST) for server in gang if server.status == "ERROR"):
        return False
    tier = context.tier
    held = [seen.claims[server.id].tier for server in gang if server.id in seen.claims]
    room = seen.room(tier, context.jobs.values(), context.env.threshold)
    return room < job.size - held.count(tier)


def _quota_was_taken(context: Context) -> Refusal | None:
    """The refusal of servers that were made, if Nova found their quota used up afterwards.

    Nova counts again when they have their hosts: requests at the same time may all have passed.
    """
    faults = (server.fault for server in context.gang if server.status == "ERROR")
    short = next((found for fault in faults if (found := shortage(fault))), "")
    return Refusal(waits.QUOTA(resources=short), context.fault()) if short else None


def _short_of_quota(context: Context) -> bool:
    refusal = context.progress.refusal
    return refusal is not None and refusal.reason.code in waits.OF_QUOTA


def _refusal(error: CloudError, purpose: str) -> Refusal | None:
    """Why a start is given up after a request was refused; None if the request may be repeated."""
    if error.shortage:
        told = error.reason if error.reason and error.reason.code in waits.OF_QUOTA else None
        return Refusal(told or waits.QUOTA(resources=error.shortage), str(error))
    reason = error.reason or _boot_refused(error)
    if isinstance(error, Unfit) or _is_hopeless(error):
        return Refusal(reason, str(error), unfit=True)
    if purpose in (BOOT, bandwidth.QOS):
        return Refusal(reason, str(error))
    return None


def _is_hopeless(error: CloudError) -> bool:
    """Whether the servers are asked for in a way that Nova will never accept."""
    return isinstance(error, BootRefused) and error.status == BAD_REQUEST


def _boot_refused(error: CloudError) -> Reason:
    """What the owner of a job reads when Nova does not boot its servers."""
    if error.passing:
        return failures.NOVA_FAILS()
    return failures.BOOT_REFUSED(status=error.status)
