"""Rows of the database as the API shows them."""

import time as clock

from nova_twotier.api.endpoint import Request
from nova_twotier.core.reasons import Reason
from nova_twotier.db.deliveries import Backlog
from nova_twotier.db.heartbeats import Heartbeat
from nova_twotier.db.models import Job, origin_of
from nova_twotier.db.readers import Reader, rfc3339


def time(seconds: float | None) -> str | None:
    """RFC 3339, in UTC; None stays None."""
    return None if seconds is None else rfc3339(seconds)


def elapsed(job: Job) -> float:
    """Seconds that a job has run, to the millisecond."""
    return round(job.ran(clock.time() if job.finished_at is None else job.finished_at), 3)


def from_history(job: Job) -> dict | None:
    """The run time that counts for a job without an estimate; None: there is none."""
    if not job.counts_as_predicted:
        return None
    return {"seconds": job.predicted, "similar_jobs": job.predicted_from}


def job_summary(request: Request, job: Job, reason: Reason | None, reader: Reader) -> dict:
    """
    :param reason: the job's, see `reason_of`.
    :param reader: renders it for the caller.
    """
    return {
        "number": job.number,
        "uuid": job.uuid,
        "name": job.name,
        "project_id": job.project_id,
        "user_id": job.user_id,
        "size": job.size,
        "estimate": job.estimate,
        "estimate_from_history": from_history(job),
        "state": job.state,
        "tier": job.tier,
        "held": job.held,
        "saved": job.saved,
        "start": job.how,
        "asked_to": job.requested_action,
        "reason": reader.text(reason),
        "why": reader.data(reason),
        "submitted_at": time(job.submitted_at),
        "started_at": time(job.started_at),
        "finished_at": time(job.finished_at),
        "elapsed": elapsed(job),
        "evictions": job.evictions,
        "restores": job.restores,
        "swaps": job.swaps,
        "migrations": job.migrations,
        "failures": job.failures,
        "queue_offset": job.queue_offset,
        "pool": job.pool,
        "flavor": job.flavor,
        "image": job.image,
        "networks": networks(job.networks),
        "key_name": job.key_name,
        "keep_servers": job.keep_servers,
        "bandwidth": job.bandwidth,
        "preemption": job.preemption,
        "checkpoint": job.checkpoint,
        "walltime": job.walltime,
        "retries": job.retries,
        "requeues": job.requeues,
        "begin_at": time(job.begin_at),
        "priority": job.priority,
        "exit_status": job.exit_status,
        "links": [{"rel": "self", "href": request.href(f"/v1/jobs/{job.uuid}")}],
    }


def job_in_full(
    request: Request, job: Job, reason: Reason | None, reader: Reader, backlog: Backlog | None
) -> dict:
    """
    :param backlog: of its webhook; None if it has none.
    """
    return {
        **job_summary(request, job, reason, reader),
        "dependencies": dependencies(job),
        "cpu": job.cpu or None,
        "learned_cpu": job.learned,
        "measured_cpu": job.measured,
        "has_user_data": job.user_data is not None,
        "reports": job.report_token is not None,
        "webhook": backlog
        and {
            "origin": origin_of(job.webhook or ""),
            "undelivered": backlog.count,
            "error": backlog.error or None,
        },
        "peers": job.peers,
    }


def dependencies(job: Job) -> list[dict]:
    return [
        {"condition": each.condition, "number": each.job, "met_at": time(each.met_at)}
        for each in job.dependencies
    ]


def manager(heartbeat: Heartbeat) -> dict:
    """Whether a pool has a queue manager."""
    return {
        "running": not heartbeat.missing,
        "heartbeat_at": time(heartbeat.at),
        "text": heartbeat.text(),
    }


def networks(stored: list[str] | None) -> str | list[str] | None:
    return stored[0] if stored in (["none"], ["auto"]) else stored
