"""Finds the jobs that the next scheduling pass of a pool considers."""

from dataclasses import dataclass, field

from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState
from nova_twotier.manager.network import Network
from nova_twotier.manager.situation import Situation


@dataclass
class Candidates:
    """The waiting jobs that the next scheduling pass considers, and why others are left out.

    :ivar active: the jobs that were checked one by one, by number: all but those that wait plainly.
    :ivar queue: the jobs that may start, by number.
    :ivar fresh: those of the queue that were checked: a measurement may have changed them.
    :ivar saved: those that wait with their state saved, by number.
    :ivar running: those that run, and neither leave nor move.
    :ivar held: the numbers of those that an operator or their owner holds.
    :ivar gated: the numbers of those that wait for a time, for other jobs, or behind the limit of
        their array.
    :ivar pauses: when jobs that back off may start.
    :ivar linked: whether the bandwidth of links decides about a job.
    :ivar short: whether bandwidth may be what a job lacks.
    """

    active: dict[int, Job]
    queue: dict[int, Job]
    fresh: list[Job] = field(default_factory=list)
    saved: dict[int, Job] = field(default_factory=dict)
    running: list[Job] = field(default_factory=list)
    held: set[int] = field(default_factory=set)
    gated: set[int] = field(default_factory=set)
    pauses: list[float] = field(default_factory=list)
    linked: bool = False
    short: bool = False


def sort_out(present: Situation, network: Network) -> Candidates:
    """Sort the open jobs of a pool; a waiting job that the pool cannot take gets a reason."""
    jobs, short_of_quota = present.jobs, present.short_of_quota
    others = jobs.keys() - present.plain_waiting.keys() - present.behind_limit
    queue = dict(present.plain_waiting)
    for number in queue.keys() & short_of_quota.keys():
        del queue[number]
    found = Candidates({number: jobs[number] for number in sorted(others)}, queue)
    found.gated.update(present.behind_limit)
    found.pauses.extend(short_of_quota.values())
    for number, job in found.active.items():
        state = job.state
        if state == JobState.QUEUED:
            if job.saved:
                found.saved[number] = job
        elif state == JobState.RUNNING and number not in present.moving:
            found.running.append(job)
            if network.moves(job):
                found.linked, found.short = True, found.short or job.tier == Tier.BG
        if job.gated:
            found.gated.add(number)
        elif job.held:
            found.held.add(number)
        elif job.requested_action:
            continue  # it ends at one of the next polls
        elif state == JobState.QUEUED and number not in present.starting:
            if (refusal := _refusal(job, present, network)) is not None:
                job.reason = refusal
            elif number in short_of_quota:
                continue
            elif job.not_before <= present.now:
                queue[number] = job
                found.fresh.append(job)
                if job.bandwidth:
                    found.linked = found.short = True
            else:
                found.pauses.append(job.not_before)
    found.linked = found.linked and network.covers(present.seen.hosts)
    return found


def _refusal(job: Job, present: Situation, network: Network) -> Reason | None:
    """Why the pool as it is cannot take a waiting job; None if it can."""
    if not job.allowed_tiers:
        return waits.FLAVOR_FOREGROUND()
    slots = present.seen.shape_slots
    if job.size > slots:
        return too_large(job, slots)
    return network.refusal(job, present.seen.hosts) if job.bandwidth else None


def too_large(job: Job, slots: int) -> Reason:
    """Why a pool of so many slots in each tier cannot take a job as it is now."""
    return waits.TOO_LARGE(size=job.size, slots=slots) if slots else waits.EMPTY_POOL(pool=job.pool)
