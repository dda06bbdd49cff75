"""Requests about a gang's servers that several operations make: delete, save and resume."""

import random
from collections.abc import Callable, Container
from functools import partial

from nova_twotier.cloud import peers
from nova_twotier.cloud.lost_requests import BRINGING_BACK
from nova_twotier.cloud.servers import NOTICE_KEY, Server
from nova_twotier.core.reasons import Reason
from nova_twotier.db.plans import EndPlan
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import JobState, Preemption
from nova_twotier.manager.operations.context import Context
from nova_twotier.manager.operations.operation import CloudRequest, Step, failed

#: Purposes of requests, by which their attempts are counted.
DELETE, SAVE, RESTORE, MIGRATE, NOTICE, UNLOCK = (
    "delete",
    "save",
    "restore",
    "migrate",
    "notice",
    "unlock",
)
#: Begins the notice of a preemption; the time follows.
PREEMPTED = "preempted at "
#: Tell its guest that the addresses of the others are void once it is shelved.
FORGET = "forget"
#: Asks whether its guest has saved its work.
REPORT = "report"
#: Force a live migration to complete.
FORCE = "force"
#: Its task is cleared, because the request that set it was lost.
RESET = "reset"
#: Tasks of a server that is being saved, and of which nothing is done yet.
SAVING = frozenset({"shelving", "suspending"})
#: It is deleted, because the request to bring it back was lost.
GIVE_UP = "give-up"
#: Suspend the same server again, or resume it, because the action is undone.
UNDO = "undo"
#: Seconds, roughly, until servers that could not be saved are retried; then twice as many.
FIRST_PAUSE = 20.0


def request(purpose: str, server: Server, run: Callable[[], object]) -> CloudRequest:
    return CloudRequest(RequestKey(purpose, server.id), run)


def delete(context: Context, server: Server) -> CloudRequest:
    return request(DELETE, server, partial(context.env.cloud.delete, server))


def notify(context: Context, server: Server, text: str | None) -> CloudRequest:
    """Give a server's guest notice of what is about to happen; None withdraws the notice.

    The notice of a preemption also does what `forget` does: of two requests at the same time, Nova
    might undo one.
    """
    if text and context.job.peers:
        items = {NOTICE_KEY: text, **peers.saved(context.job, server)}
        return request(NOTICE, server, partial(context.env.cloud.set_metadata, server, items))
    return request(NOTICE, server, partial(context.env.cloud.notice, server, text))


def forget(context: Context) -> list[CloudRequest]:
    """Requests to make the addresses void that the guests know, once each: see `peers.saved`.

    Whatever the answer, the job is shelved: its guests may then start before the others are there.
    """
    job, cloud = context.job, context.env.cloud
    if not job.peers:
        return []
    asked = {key.server for key in context.progress.attempts if key.purpose in (FORGET, NOTICE)}
    idle = [each for each in context.gang if not each.busy and each.status in peers.TAKES_METADATA]
    changes = [(each, peers.saved(job, each)) for each in idle if each.id not in asked]
    return [
        request(FORGET, server, partial(cloud.set_metadata, server, items))
        for server, items in changes
        if not peers.shows(server, items)
    ]


def remove(context: Context) -> Step | None:
    """The next step of deleting all servers of a job; None when there are none.

    Deletes may be repeated, see `to_delete`.
    """
    if context.gang:
        return Step([delete(context, each) for each in context.gang if to_delete(context, each)])
    return Step() if context.still_claiming() else None


def leave_to_end(context: Context, reason: Reason) -> Step:
    """Give up a preemption that deletes servers, and leave those that are still there to an end.

    The job has failed in nothing: it uses up no retry. What was decided together with the
    preemption does not wait for the end.

    :param reason: why the job begins anew.
    """
    step = failed(context, context.overdue_reason())
    step.end = EndPlan(JobState.QUEUED, reason, context.env.now, preempted=True)
    return step


def to_delete(context: Context, server: Server) -> bool:
    """Whether a server that is to go has to be deleted now.

    A delete may be repeated even while Nova is busy with the server. It has to be if the host that
    was deleting the server went down, or if the deletion takes too long.
    """
    return (
        server.task != "deleting"
        or server.host in context.seen.down
        or context.overdue(max(1, context.tried(DELETE, server.id)))
    )


def reset(context: Context, tasks: Container[str], *, memory: bool = True) -> list[CloudRequest]:
    """Requests to reset servers left in one of these tasks by a request that was lost: once each,
    and once more for each time that one was saved.

    Until then the server is busy, and all that can be done to it is to delete it.

    :param memory: as of `Cloud.reset_if_lost`.
    """
    run = partial(context.env.cloud.reset_if_lost, memory=memory)
    return [
        request(RESET, server, partial(run, server))
        for server in context.gang
        if server.task in tasks
        # The first may have been about a task from before, which only took long.
        and context.tried(RESET, server.id) <= context.tried(SAVE, server.id)
    ]


def give_up(context: Context) -> list[CloudRequest]:
    """Requests to delete servers that Nova will never bring back, once each."""
    return [
        request(GIVE_UP, server, partial(context.env.cloud.delete_if_lost, server))
        for server in context.gang
        if server.task in BRINGING_BACK and not context.tried(GIVE_UP, server.id)
    ]


def is_saved(server: Server, mode: Preemption) -> bool:
    """Whether a server is in the final state of a preemption; a SHUTOFF one cannot be suspended."""
    if server.busy:
        return False
    if mode is Preemption.SHELVE:
        return server.status == "SHELVED_OFFLOADED"
    return server.status in ("SUSPENDED", "SHUTOFF")


def all_saved(context: Context, mode: Preemption) -> bool:
    return all(is_saved(server, mode) for server in context.gang)


def save(context: Context, mode: Preemption, purpose: str = SAVE) -> Step:
    """Shelve or suspend the servers that are not saved yet, unless Nova is busy with them."""
    cloud = context.env.cloud
    act = cloud.shelve if mode is Preemption.SHELVE else cloud.suspend
    return Step(
        [
            request(purpose, server, partial(act, server))
            for server in context.gang
            if not server.busy and not is_saved(server, mode)
        ]
    )


def paced(context: Context, step: Step) -> Step:
    """The step, without servers that could not be saved and whose pause is not over.

    Each pause is about twice as long as the one before: the image store may be away.
    """
    new = [each for each in step.requests if each.key not in context.progress.attempts]
    repeated = [each.key for each in step.requests if context.tried(*each.key)]
    if new:
        servers = {each.key.server for each in new}
        ended = (s.id for s in context.gang if s.id in servers and s.status == "SHUTOFF")
        context.record(off=(*context.progress.off, *ended))
    if not repeated:
        return step
    retry_at = context.progress.retry_at
    if retry_at is None:
        retry_at = context.env.now + max(_pause(key, context.tried(*key)) for key in repeated)
        context.record(retry_at=retry_at)
    if context.env.now < retry_at:
        return Step([each for each in step.requests if each.key not in repeated])
    context.record(retry_at=None)
    return step


def _pause(key: RequestKey, times: int) -> float:
    """Seconds until a server that failed so often is saved again; random, to spread the retries."""
    spread = random.Random(f"{key} {times}").uniform(0.5, 1.5)  # noqa: S311
    return FIRST_PAUSE * 2.0 ** (times - 1) * spread


def resume(context: Context) -> list[CloudRequest]:
    """Requests to resume the suspended servers, until their attempts are used up."""
    return [
        request(UNDO, server, partial(context.env.cloud.resume, server))
        for server in context.gang
        if server.status == "SUSPENDED"
        and not server.busy
        and not context.exhausted(UNDO, server.id)
    ]


def stopped(context: Context) -> list[Server]:
    """Servers that the action has powered off and not saved, or is starting again.

    None if others of the gang have left their hosts: they could not work together.
    """
    if any(server.shelved for server in context.gang):
        return []
    return [
        server
        for server in context.gang
        if server.status == "SHUTOFF"
        and server.id not in context.progress.off
        and context.tried(SAVE, server.id)
    ]


def start(context: Context, server: Server, purpose: str) -> CloudRequest:
    """A request to power on a server that is off."""
    return request(purpose, server, partial(context.env.cloud.start, server))
