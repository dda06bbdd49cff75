"""Quotas: how many jobs and processes a project may have."""

import math

from nova_twotier.api.errors import Refused
from nova_twotier.api.site import Site
from nova_twotier.conf.manager import SLOT_LIMITS
from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.db import queue_policy, submissions
from nova_twotier.db.models import DEFAULT_POOL


def reserve(
    site: Site, project_id: str, size: int, pool: str = DEFAULT_POOL, tasks: int = 1
) -> str:
    """Reserve quota for a job of this size, or an array of them; returns its uuid.

    It counts from now on, although it is not submitted yet. Requests at the same time, also to
    other API processes, do not exceed the quota together.

    :raises Refused: if it exceeds the project's quota.
    """
    options = site.conf.api
    if size > options.max_job_size:
        most = options.max_job_size
        raise _over(f"a job may have {most:,} processes at most; this one has {size:,}", 0, most)

    if size * tasks > submissions.MOST_PROCESSES:
        most = submissions.MOST_PROCESSES
        raise _over(
            f"the tasks of an array may have {most:,} processes together at most; those of this "
            f"one have {size * tasks:,}: submit several arrays, or smaller tasks",
            0,
            most,
        )
    _check_slot_limits(site, pool, size)

    def admit(jobs: int, processes: int) -> None:
        most = options.max_jobs_per_project
        if 0 <= most < jobs + tasks:
            more = f"; this array has {tasks:,} tasks" if tasks > 1 else ""
            raise _over(
                f"your project may have {most:,} jobs at most, and has {jobs:,} that are not over"
                f"{more}",
                jobs,
                most,
            )
        most = options.max_processes_per_project
        if 0 <= most < processes + size * tasks:
            which = "this one" if tasks == 1 else "the tasks of this array"
            raise _over(
                f"the jobs of your project may have {most:,} processes at most; those that are "
                f"not over have {processes:,}, and {which} {'has' if tasks == 1 else 'have'} "
                f"{size * tasks:,}",
                processes,
                most,
            )

    return submissions.begin(site.store, project_id, size * tasks, admit, tasks)


def _check_slot_limits(site: Site, pool: str, size: int) -> None:
    """:raises Refused: if the job is larger than the limits of all tiers that the policy uses.

    The policy that an operator has chosen at run time, and the one in use, count no more than the
    configured one, which may return any time: a job that could start under one of them is accepted,
    and waits with the reason `slot-limit`.
    """
    options = site.conf.manager
    if not any(getattr(options, name) >= 0 for name in SLOT_LIMITS):
        return
    with site.store.reading() as session:
        chosen = queue_policy.chosen(session, pool)
    names = chosen, site.used_policy(pool), options.policy
    known = (policies.POLICIES.get(name) for name in names if name)
    tiers = max(policy.tiers for policy in known if policy)
    allowed = dict.fromkeys((Tier.FG, Tier.BG)[:tiers], math.inf)
    for name, (_owner, tier) in SLOT_LIMITS.items():
        most = getattr(options, name)
        if tier in allowed and most >= 0:
            allowed[tier] = min(allowed[tier], most)
    most = max(allowed.values())
    if not most:
        raise _over(
            "no job could start: users and projects may hold no slots of the tiers that pool "
            f"{pool} uses; ask its operator",
            0,
            most,
        )
    if size > most:
        raise _over(
            f"a job of {size:,} processes could never start: users and projects may hold at most "
            f"{most:,} slots of a tier at the same time; submit a smaller one",
            0,
            most,
        )


def _over(detail: str, used: int, allowed: int) -> Refused:
    return Refused(403, "quota.exceeded", detail, used=used, allowed=allowed)


def limits(site: Site, project_id: str) -> dict:
    """The project's quotas and their usage."""
    options = site.conf.api
    with site.store.reading() as session:
        jobs, processes = submissions.count(session, project_id)
    return {
        "job_size": options.max_job_size,
        "jobs": {"used": jobs, "allowed": options.max_jobs_per_project},
        "processes": {"used": processes, "allowed": options.max_processes_per_project},
        "slots": {
            name.removeprefix("max_"): getattr(site.conf.manager, name) for name in SLOT_LIMITS
        },
    }
