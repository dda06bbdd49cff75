"""Start a job as a gang in one tier: boot all its servers at once, or bring saved ones back."""

from collections.abc import Mapping

from oslo_log import log as logging

from nova_twotier.cloud.errors import CloudError, UnfitFlavor
from nova_twotier.core.actions import Tier
from nova_twotier.db.models import JobState, pause
from nova_twotier.ledger import claims, names
from nova_twotier.ledger.placement import Conflict, NotFound, StaleGeneration
from nova_twotier.manager.operations import bandwidth, shortage
from nova_twotier.manager.operations.operation import (
    NO_HOST,
    TOLD,
    UNDOING,
    Call,
    Note,
    Operation,
    Step,
    defect,
    done,
    failed,
    overdue,
    remove,
    still_claiming,
    told,
    too_long,
    tried,
    with_fault,
)
from nova_twotier.manager.operations.saving import SHELVED, SUSPENDED, is_saved, save

LOG = logging.getLogger(__name__)

BOOT = "boot"
#: Keys in `begun`: when a boot was last under way; that the gang was suspended; what Nova refused
#: it for; that others were faster; what the job waited for before.
AT, WAS_SUSPENDED, REFUSED, CROWDED = "at", "suspended", "refused", "crowded"
BEFORE = "before"
#: What the owner is told when others were faster.
TAKEN = "the slots that it was to get were taken meanwhile"
NO_BANDWIDTH = "the bandwidth that it was to get was taken meanwhile"
#: The same of a gang that Nova did not place as VirtualClusterFilter would have it.
BEYOND = "Nova placed it where it has less bandwidth than is guaranteed"


class NoStart(Exception):
    """The job does not start.

    :param told: what its owner may read.
    :param crowded: the slots that it was to get are others' by now.
    """

    def __init__(self, reason: str, told: str = "", crowded: bool = False):
        super().__init__(reason)
        self.told = told
        self.crowded = crowded


class Start(Operation):
    def begin(self, action, jobs):
        job = jobs[action.job]
        job.state = JobState.RESTORING if job.saved else JobState.STARTING
        job.tier = action.plan["tier"]
        action.begun = {**action.begun, BEFORE: job.reason}
        job.reason = ""

    def answered(self, action, answer, now):
        super().answered(action, answer, now)
        key, error = answer.key, answer.error
        if key == BOOT:
            # Nova may be at it still, whatever it answered.
            action.begun = {**action.begun, AT: now}
        if error is None or not answer.final or UNDOING in action.begun:
            return
        refused = {"reason": str(error), "told": error.told, "unfit": False, "quota": False}
        if error.shortage:
            text = f"waits for quota: its project has not enough {error.shortage} left"
            refused.update(told=text, quota=True)
        elif isinstance(error, UnfitFlavor):
            refused["unfit"] = True
        elif key in (BOOT, bandwidth.QOS):
            refused["told"] = error.told or _refusal(error)
        else:
            return
        action.begun = {**action.begun, REFUSED: refused}

    def advance(self, action, jobs, seen, env):
        job = jobs[action.job]
        if UNDOING in action.begun:
            return self._take_back(action, job, seen, env)
        try:
            if refused := action.begun.get(REFUSED):
                raise NoStart(refused["reason"], refused["told"])
            step = self._restore if job.saved else self._boot
            step = step(action, job, seen, env) or self._settle(action, jobs, seen, env)
            if step.state is None and overdue(action, env):
                raise NoStart(too_long(seen.gang(job), env))
            return step
        except NoStart as trouble:
            action.begun = {**action.begun, UNDOING: str(trouble), CROWDED: trouble.crowded}
            if trouble.told:
                action.begun = {**action.begun, TOLD: trouble.told}
            job.reason = f"did not start: {trouble.told or trouble}"
            return self._take_back(action, job, seen, env)

    def _boot(self, action, job, seen, env):
        gang = seen.gang(job)
        if len(gang) >= job.size:
            return None
        # Not all of them, or none: the request may still be at work.
        if env.now < action.begun.get(AT, -env.boot_grace) + env.boot_grace:
            return Step()
        if gang or tried(action, BOOT) >= env.attempts:
            raise NoStart(f"Nova made {len(gang)} of {job.size} servers")
        action.begun = {**action.begun, AT: env.now}
        self._admit(job, _links(action), env)
        user_data = env.user_data(job.number)
        return Step([Call(BOOT, lambda: env.cloud.boot(job, user_data))])

    def _restore(self, action, job, seen, env):
        gang = seen.gang(job)
        if any(server.status == "SUSPENDED" for server in gang):
            action.begun = {**action.begun, WAS_SUSPENDED: True}
            self._seat(job, gang, seen, env)
        away = "SUSPENDED" if _mode(action) is SUSPENDED else "SHELVED_OFFLOADED"
        calls = []
        for server in gang:
            if server.busy or server.status != away:
                continue
            if tried(action, server.id) >= env.attempts:
                raise NoStart(f"server {server.id} does not come back in {job.tier}")
            calls.append(Call(server.id, _bringing_back(action, server, env)))
        if calls:
            self._admit(job, _links(action), env)
            return Step(calls)
        # Its guests need not fear any more what they were told.
        calls = [
            Call(f"notice {server.id}", lambda server=server: env.cloud.notice(server, None))
            for server in gang
            if server.notice and not server.busy and not tried(action, f"notice {server.id}")
        ]
        return Step(calls) if calls else None

    @staticmethod
    def _seat(job, gang, seen, env):
        """Suspended servers can only come back where they are: all of them find a slot, or none."""
        seats = {server.id: server.host for server in gang}
        try:
            claims.seat(env.placement, seen.hosts, seats, Tier(job.tier))
        except StaleGeneration:
            raise
        except Conflict as error:
            text = f"on the hosts where it is suspended, no slots in {job.tier} are free for it"
            raise NoStart(str(error), text, crowded=True) from error

    @staticmethod
    def _admit(job, links, env):
        """Enter the job: its servers' requests find the wanted tier, and its bandwidth, there."""
        try:
            claims.admit(
                env.placement,
                job.uuid,
                job.size,
                Tier(job.tier),
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
            raise NoStart(str(error), NO_BANDWIDTH, crowded=True) from error

    def _settle(self, action, jobs, seen, env):
        """Over when the whole gang is up, with slots in the tier and within its bandwidth."""
        job = jobs[action.job]
        gang = seen.gang(job)
        if reason := defect(job, seen):
            if _crowded_out(job, gang, jobs, seen, env):
                raise NoStart(with_fault(reason, gang), TAKEN, crowded=True)
            raise NoStart(with_fault(reason, gang), reason)
        if any(server.busy or server.status not in ("ACTIVE", "SHUTOFF") for server in gang):
            if job.requested_action and not job.saved:
                # Nova may never be done with them, and deletes them all the same.
                raise NoStart(f"its owner asked to {job.requested_action} it")
            return Step()
        if not seen.in_tier(job, Tier(job.tier)):
            raise NoStart(f"Nova placed it outside {job.tier}")
        self._verify(action, job, seen, env)
        calls = bandwidth.guarantee(action, job, gang, env)
        return Step(calls) if calls else done()

    def _verify(self, action, job, seen, env):
        """Give back what it does not need of its links where Nova has placed it."""
        needs, reserved = seen.needs(job, seen.places(job)), _links(action)
        for link, mbps in needs.items():
            if mbps > reserved.get(link, 0):
                raise NoStart(
                    f"Nova placed it where it needs {mbps} Mbit/s on link {link}, of which "
                    f"{reserved.get(link, 0)} are reserved: is VirtualClusterFilter enabled?",
                    BEYOND,
                )
        if needs != reserved:
            LOG.info("Job %s needs less of the network than planned: %s", job.number, needs)
            self._admit(job, needs, env)
            action.plan = {**action.plan, "links": needs}

    @staticmethod
    def _take_back(action, job, seen, env):
        """All or none: delete what was booted, put away again what was restored; then fail."""
        reason = action.begun[UNDOING]
        gang = seen.gang(job)
        if not job.saved:
            step = remove(action, job, seen, env)
        elif defect(job, seen) or overdue(action, env, 2):
            step = None  # what is broken about the gang is seen, and mended, at the next poll
        else:
            mode = _mode(action)
            step = save(gang, mode, env, "undo ")
            if not step.calls and all(is_saved(server, mode) for server in gang):
                if mode is SUSPENDED:
                    claims.vacate(env.placement, seen.hosts, [server.id for server in gang])
                    step = None
                elif not still_claiming(action, seen, env):
                    step = None
        if step is None:
            claims.release(env.placement, job.uuid)
            step = failed(action, reason)
            step.alone = _short_of_quota(action)
        return step

    def close(self, action, jobs, env):
        job = jobs[action.job]
        restored = job.state == JobState.RESTORING
        job.state, job.saved, job.how = JobState.RUNNING, False, action.plan["how"]
        job.reset_backoff()
        job.restores += restored
        job.run_since = env.now
        if job.started_at is None:
            job.started_at = env.now
        job.reason = ""
        return [
            Note(job.number, "restored" if restored else "started", f"in {job.tier}, {job.how}")
        ]

    def undo(self, action, jobs, env):
        job = jobs[action.job]
        job.state, job.tier = JobState.QUEUED, None
        if _short_of_quota(action):
            job.reason = told(action)
            job.back_off(env.now)
            shortage.back_off_alike(job, jobs.values())
        else:
            job.reason = f"did not start: {told(action)}"
            if action.begun.get(CROWDED):
                job.back_off(env.now)
            else:
                # With a flavor that is none for jobs, no further attempt does better.
                unfit = action.begun.get(REFUSED, {}).get("unfit")
                job.failures = env.attempts if unfit else job.failures + 1
                job.not_before = env.now + pause(job.failures)
        if job.reason == action.begun.get(BEFORE) and not job.failures:
            return []  # it is known already what it waits for
        return [Note(job.number, "not started", told(action))]


def _links(action) -> Mapping[str, int]:
    """Mbit/s by link that were planned for the job; none without bandwidth."""
    return action.plan.get("links", {})


def _bringing_back(action, server, env):
    """The request that brings a server back: of a job with bandwidth, to the host in its plan."""
    if _mode(action) is SUSPENDED:
        return lambda: env.cloud.resume(server)
    if hosts := action.plan.get("hosts"):
        return lambda: env.cloud.unshelve(server, hosts[server.index])
    return lambda: env.cloud.unshelve(server)


def _crowded_out(job, gang, jobs, seen, env) -> bool:
    """Whether Nova found no hosts because the slots that were free have been taken."""
    if not any(server.fault.startswith(NO_HOST) for server in gang if server.status == "ERROR"):
        return False
    tier = Tier(job.tier)
    held = [seen.claims[server.id].tier for server in gang if server.id in seen.claims]
    return seen.room(tier, jobs.values(), env.threshold) < job.size - held.count(tier)


def _short_of_quota(action) -> bool:
    return action.begun.get(REFUSED, {}).get("quota", False)


def _refusal(error: CloudError) -> str:
    """What the owner of a job is told when Nova does not boot its servers."""
    if error.passing:
        return "Nova cannot make its servers, however often it is asked; tell the operator"
    return (
        f"Nova refused its servers (HTTP {error.status}): check its flavor, image, networks and key"
    )


def _mode(action):
    """How the servers of a saved job were put away."""
    return SUSPENDED if action.begun.get(WAS_SUSPENDED) else SHELVED
