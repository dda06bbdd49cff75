"""Clean up after a job: its servers, its server group, and its entry."""

from functools import partial

from oslo_log import log as logging

from nova_twotier.cloud.lost_requests import DISK_ONLY
from nova_twotier.cloud.servers import Server
from nova_twotier.core.reasons import failures
from nova_twotier.db.plans import EndPlan
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import OVER, JobState
from nova_twotier.manager.operations import bandwidth
from nova_twotier.manager.operations.context import Context, in_full
from nova_twotier.manager.operations.gang import (
    SAVE,
    UNLOCK,
    delete,
    remove,
    request,
    reset,
    to_delete,
)
from nova_twotier.manager.operations.operation import (
    CloudRequest,
    Note,
    Operation,
    Outcome,
    Step,
    done,
)

LOG = logging.getLogger(__name__)

GROUP, TRUST = "group", "trust"
#: Asks whether a shelved server stays so, because the request to bring it back was lost.
STAYS = "stays"
#: What can be shelved.
KEPT = frozenset({"ACTIVE", "PAUSED", "SHUTOFF", "SUSPENDED"})
#: Shelved, and about to leave its host: by nova.conf it does not stay there.
LEAVING = "SHELVED"
#: What an administrator has left so that it cannot be shelved, and the request that ends that: it
#: was migrated or resized, or boots from a rescue disk.
HALFWAY = {"VERIFY_RESIZE": "confirm", "RESCUE": "unrescue"}
#: Operation timeouts in which an owner may begin images of a server.
LAST = 4
#: Tasks of a server whose nova-compute has not begun with an image, or a backup.
ASKED_FOR = frozenset({"image_snapshot_pending", "image_backup"})
#: The last task of a server of which an image is made.
UPLOADING = "image_uploading"
#: There is nothing to keep of it.
LOST = frozenset({"BUILD", "ERROR"})


class End(Operation):
    """Leads to the state that the plan names: over, or queued again from the beginning."""

    def begin(self, context: Context) -> None:
        context.job.state = JobState.ENDING

    def advance(self, context: Context) -> Step:
        action, job = context.action, context.job
        untouched = context.gang and not context.progress.attempts
        if untouched and not action.reason and (reason := context.defect()):
            # For operators, before Nova's fault is deleted with the servers.
            action.reason = in_full(reason, context.fault())
            LOG.warning("Job %s ends: %s", job.label, action.reason)
        keeps = job.keep_servers and context.plan(EndPlan).then in OVER
        step = self._keep(context) if keeps else remove(context)
        if step is not None:
            return step
        if not job.never_begun:
            # Release its bandwidth before others see that its slots are free.
            context.release()
        if requests := self._leftovers(context):
            return Step(requests, freed=True)
        return done()

    @staticmethod
    def _leftovers(context: Context) -> list[CloudRequest]:
        """Requests to delete what else was created for the job, once each."""
        job, cloud = context.job, context.env.cloud
        requests = []
        # Ten thousand that never began may be cancelled at once; to look for what each has left
        # would hold up all other jobs.
        if not context.gang and not job.never_begun:
            run = partial(cloud.delete_server_group, job)
            requests.append(CloudRequest(RequestKey(GROUP), run))
        # That of an array is deleted after its last task, see `manager.arrays`.
        lent = job.trust_id and job.array is None
        if lent and context.plan(EndPlan).then in OVER:
            requests.append(CloudRequest(RequestKey(TRUST), partial(cloud.delete_trust, job)))
        requests += bandwidth.withdraw(context)
        return [each for each in requests if not context.tried(*each.key)]

    @staticmethod
    def _keep(context: Context) -> Step | None:
        """Shelve the servers that are kept: they then hold no slots.

        Their owner can boot others from their images. They themselves never come back, since the
        scheduler's filters no longer know their job.
        """
        cloud = context.env.cloud
        step, over = Step(), True
        for server in context.gang:
            if server.status == "SHELVED_OFFLOADED" and _stays(context, server):
                if not server.locked or context.tried(UNLOCK, server.id):
                    continue
                step.requests.append(request(UNLOCK, server, partial(cloud.unlock, server)))
            elif _unkept(context, server):
                if to_delete(context, server):
                    step.requests.append(delete(context, server))
            elif not server.busy and server.status in KEPT:
                step.requests.append(request(SAVE, server, partial(cloud.shelve, server)))
            elif (
                (purpose := HALFWAY.get(server.status))
                and not server.busy
                and not context.tried(purpose, server.id)
            ):
                act = cloud.unrescue if purpose == "unrescue" else cloud.confirm_resize
                step.requests.append(request(purpose, server, partial(act, server)))
                context.record(retry_at=context.env.now + context.env.operation_timeout)
            elif server.task == "unshelving" and context.hangs():
                step.requests.append(request(STAYS, server, partial(cloud.require_lost, server)))
            over = False
        if context.hangs():
            step.requests += reset(context, DISK_ONLY, memory=False)
        return None if over and not context.still_claiming() else step

    def answered(self, context: Context, outcome: Outcome) -> None:
        # A question that is refused is no answer: only Nova says that the server stays shelved.
        if outcome.key.purpose != STAYS or outcome.error is None:
            super().answered(context, outcome)

    def close(self, context: Context) -> list[Note]:
        job, plan = context.job, context.plan(EndPlan)
        job.state, job.tier, job.saved = plan.then, None, False
        job.reason = plan.reason
        if job.state in OVER:
            job.stop(plan.at)
            job.finished_at = plan.at
            job.exit_status = plan.exit_status
            if plan.lost:
                job.discarded_at = context.env.now
        else:
            job.begin_anew(context.env.now)
            if plan.preempted:
                job.evictions += 1
                return [Note(job.number, "killed", job.reason)]
            if plan.reason is None or plan.reason.code is not failures.REQUESTED:
                job.requeues += 1
        return [Note(job.number, job.state, job.reason)]


def _stays(context: Context, server: Server) -> bool:
    """Whether a shelved server will stay shelved: it is idle, or the unshelve request was lost.

    Its image is there all the same, and would be deleted with the server.
    """
    return not server.busy or context.tried(STAYS, server.id) > 0


def _unkept(context: Context, server: Server) -> bool:
    """Whether to delete a server that was to be kept, because it cannot be shelved.

    On a dead host, nobody would ever shelve it.
    """
    if server.status in LOST or server.task == "deleting" or server.host in context.seen.down:
        return True
    if server.busy:
        return server.busy_for_owner and _images_without_end(context, server)
    if server.status in KEPT:
        return context.exhausted(SAVE, server.id)
    if purpose := HALFWAY.get(server.status):
        # Nova takes a while to carry out what it has accepted, and names no task meanwhile. The
        # migration before may itself have taken longer than that.
        until = context.progress.retry_at
        asked = context.tried(purpose, server.id) > 0
        return asked and until is not None and context.env.now >= until
    return server.status != LEAVING


def _images_without_end(context: Context, server: Server) -> bool:
    """Whether to wait no longer for the images that an owner makes of a server.

    Nova's lock lets owners make one after another: they would keep the slot for ever. An image that
    was begun in time may take as long as it needs; one that nova-compute has not begun may not.
    """
    if server.task in ASKED_FOR or server.updated_at is None:
        return context.overdue(LAST)
    # Nova names the upload as a task of its own, after the disk was copied, which may take long.
    times = LAST + 1 if server.task == UPLOADING else LAST
    return context.overdue(times, at=server.updated_at)
