"""Rows of the database as the API shows them."""

import time as clock
from collections.abc import Collection, Mapping

from nova_twotier.api.endpoint import Request
from nova_twotier.api.predictions import Learned, Told
from nova_twotier.core import indexes
from nova_twotier.core.reasons import Reason
from nova_twotier.db import arrays
from nova_twotier.db.deliveries import Backlog
from nova_twotier.db.heartbeats import Heartbeat
from nova_twotier.db.models import Array, Job, origin_of
from nova_twotier.db.readers import Reader, rfc3339
from nova_twotier.db.states import OVER, JobState


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


def job_summary(
    request: Request, job: Job, reason: Reason | None, told: Told, reader: Reader
) -> dict:
    """
    :param reason: the job's, see `reason_of`.
    :param told: what may be told of its prediction.
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
        **prediction(told, reader),
        "elapsed": elapsed(job),
        "run_since": time(job.run_since),
        "run_before": round(job.run_before, 3),
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
        "qos": job.qos,
        "exit_status": job.exit_status,
        "array": in_array(job),
        "links": [{"rel": "self", "href": request.href(f"/v1/jobs/{job.uuid}")}],
    }


def in_array(job: Job) -> dict | None:
    return None if job.array is None else {"number": job.array, "index": job.array_index}


def asked(job: Job) -> dict:
    """A job as answers to requests about several jobs list it."""
    return {
        "number": job.number,
        "uuid": job.uuid,
        "name": job.name,
        "state": job.state,
        "held": job.held,
        "asked_to": job.requested_action,
        "array": in_array(job),
    }


def array(
    request: Request, row: Array, counts: Mapping[JobState, int], waiting: Collection[int]
) -> dict:
    """
    :param counts: of its tasks, by state.
    :param waiting: the indexes of the tasks that wait.
    """
    state = arrays.state(counts)
    return {
        "number": row.number,
        "uuid": row.uuid,
        "name": row.name,
        "project_id": row.project_id,
        "user_id": row.user_id,
        "pool": row.pool,
        "state": state,
        "indexes": row.indexes,
        "most_at_once": row.most_at_once,
        "tasks": {str(each): count for each, count in counts.items()},
        "waiting": indexes.written(waiting),
        "submitted_at": time(row.submitted_at),
        "finished_at": time(row.finished_at) if state in OVER else None,
        "links": [{"rel": "self", "href": request.href(f"/v1/arrays/{row.number}")}],
    }


def job_in_full(
    request: Request,
    job: Job,
    reason: Reason | None,
    told: Told,
    reader: Reader,
    backlog: Backlog | None,
    has_user_data: bool,
    others: Mapping[int, Job],
) -> dict:
    """
    :param backlog: of its webhook; None if it has none.
    :param others: the jobs that it depends on, by number.
    """
    return {
        **job_summary(request, job, reason, told, reader),
        "dependencies": dependencies(job, others),
        "cpu": job.cpu or None,
        "learned_cpu": job.learned,
        "measured_cpu": job.measured,
        "has_user_data": has_user_data,
        "reports": job.report_token is not None,
        "webhook": backlog
        and {
            "origin": origin_of(job.webhook or ""),
            "undelivered": backlog.count,
            "error": backlog.error or None,
        },
        "peers": job.peers,
    }


def prediction(told: Told, reader: Reader) -> dict:
    """When a job is expected to start and to end, or why that is not known."""
    row = told.row
    names = ("start", "start_low", "start_high", "finish", "finish_low", "finish_high")
    return {
        **{f"predicted_{name}": time(getattr(row, name, None)) for name in names},
        "predicted_at": time(row and row.made_at),
        "unpredicted": reader.data(told.unpredicted),
    }


def predictions(learned: Learned | None) -> dict | None:
    """How right the predictions of a queue have been; None: it has made none."""
    return learned and {
        "made_at": time(learned.made_at),
        "estimator": learned.estimator,
        "probability": 0.8,
        "starts": {"held": learned.starts.held, "of": learned.starts.of},
        "finishes": {"held": learned.finishes.held, "of": learned.finishes.of},
    }


def dependencies(job: Job, others: Mapping[int, Job]) -> list[dict]:
    """
    :param others: the jobs that it depends on, by number; some may be deleted.
    """
    shown = []
    for each in job.dependencies:
        # An array has the number of its first task.
        other = None if each.array else others.get(each.job)
        shown.append(
            {
                "condition": each.condition,
                "number": each.job,
                "array": each.array,
                "task": other and in_array(other),
                "met_at": time(each.met_at),
            }
        )
    return shown


def manager(heartbeat: Heartbeat, lasting: bool = False) -> dict:
    """Whether a pool has a queue manager.

    :param lasting: without what changes all the time.
    """
    return {
        "running": not heartbeat.missing,
        "heartbeat_at": None if lasting and not heartbeat.missing else time(heartbeat.at),
        "text": heartbeat.text(),
    }


def networks(stored: list[str] | None) -> str | list[str] | None:
    return stored[0] if stored in (["none"], ["auto"]) else stored
