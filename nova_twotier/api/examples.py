"""Examples of answers in the OpenAPI document, by the names of their schemas."""

from nova_twotier.api.versions import NEWEST, OLDEST
from nova_twotier.core import policies
from nova_twotier.core.qos import Qos
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.db.states import JobState

_URL = "https://cloud.example.org:8780/v1"
_UUID = "5e0f7b6c-0f5a-4c7a-9d0e-3b1f4a1f7a10"
_OTHER = "0f5ac7ae-5a3e-4d43-8f5c-5b1f3ab1b2c3"
_SUBMITTED, _BEFORE = "2026-11-25T02:47:58.310+00:00", "2026-11-25T02:48:03.120+00:00"


def _why(reason: Reason) -> dict:
    return {
        "code": reason.code.name,
        "parameters": dict(reason.parameters),
        "by": None,
        "by_number": None,
        "effect": None,
        "text": str(reason),
    }


def _counts(**jobs: int) -> dict:
    """Jobs by state."""
    return {**dict.fromkeys(map(str, JobState), 0), **jobs}


_WHY = _why(waits.SLOTS(size=4, idle=1, later=None, open=2))
_PREDICTION = {
    "predicted_start": "2026-11-25T03:10:12.000+00:00",
    "predicted_start_low": "2026-11-25T02:55:40.000+00:00",
    "predicted_start_high": "2026-11-25T03:31:00.000+00:00",
    "predicted_finish": "2026-11-25T04:02:00.000+00:00",
    "predicted_finish_low": None,
    "predicted_finish_high": None,
    "predicted_at": _BEFORE,
    "unpredicted": None,
}
_SUMMARY = {
    "number": 12,
    "uuid": _UUID,
    "name": "solver",
    "project_id": "demo",
    "user_id": "alice",
    "size": 4,
    "estimate": 3600.0,
    "estimate_from_history": None,
    "state": "queued",
    "tier": None,
    "held": False,
    "saved": False,
    "start": None,
    "asked_to": None,
    "reason": _WHY["text"],
    "why": _WHY,
    "submitted_at": _SUBMITTED,
    "started_at": None,
    "finished_at": None,
    **_PREDICTION,
    "elapsed": 0.0,
    "run_since": None,
    "run_before": 0.0,
    "evictions": 0,
    "restores": 0,
    "swaps": 0,
    "migrations": 0,
    "failures": 0,
    "queue_offset": None,
    "pool": "default",
    "flavor": "tt.job",
    "image": None,
    "networks": None,
    "key_name": None,
    "keep_servers": False,
    "bandwidth": 0.0,
    "preemption": "shelve",
    "checkpoint": False,
    "walltime": 7200.0,
    "retries": 3,
    "requeues": 0,
    "begin_at": None,
    "priority": 0,
    "qos": "normal",
    "exit_status": None,
    "array": None,
    "links": [{"rel": "self", "href": f"{_URL}/jobs/{_UUID}"}],
}
_JOB = {
    **_SUMMARY,
    "dependencies": [],
    "cpu": [0.6, 0.6, 0.6, 0.6],
    "learned_cpu": None,
    "measured_cpu": None,
    "has_user_data": False,
    "reports": False,
    "webhook": None,
    "peers": False,
    "foreground_elapsed": 0.0,
    "background_elapsed": 0.0,
    "servers": [],
}
_ASKED = {
    "number": 12,
    "uuid": _UUID,
    "name": "solver",
    "state": "queued",
    "held": False,
    "asked_to": "cancel",
    "array": None,
}
_HAPPENING = {
    "at": _SUBMITTED,
    "kind": "submitted",
    "detail": "",
    "why": None,
    "asked_by": {"user_id": _JOB["user_id"], "project_id": _JOB["project_id"]},
}
_POLICY = {
    "name": "amcbf",
    "description": policies.POLICIES["amcbf"].summary,
    "configured": "amcbf",
    "set_to": None,
}
_NO_JOBS = dict.fromkeys(map(str, Qos), 0)

_STANDING = {**_SUMMARY, "waiting": None, "position": 3, "unblock": None}
EXAMPLES = {
    "Version": {
        "id": "v1.0",
        "status": "CURRENT",
        "min_version": OLDEST,
        "max_version": NEWEST,
        "links": [{"rel": "self", "href": f"{_URL}/"}],
    },
    "Errors": {
        "errors": [
            {
                "request_id": "req-716d8f22-5ac7-4514-8582-31b9f9dbf7b7",
                "code": "twotier.job.not_found",
                "status": 404,
                "title": "Not Found",
                "detail": "there is no such job in your project",
                "links": [],
            }
        ]
    },
    "Login": {"user": "alice", "password": "...", "project": "demo"},
    "LoggedIn": {
        "token": "gAAAAABn...",
        "expires_at": "2026-11-25T14:47:58.000+00:00",
        "user": {"id": "c8f1a6d0b6a34a4f9a3f6f1a4f2b7d11", "name": "alice"},
        "project": {"id": "0b7f3d5c2e6a4c1f8d9e7a6b5c4d3e2f", "name": "demo"},
        "roles": ["member", "reader"],
    },
    "LoginToken": {"token": "gAAAAABn..."},
    "LoginProjects": {
        "projects": [
            {
                "id": "0b7f3d5c2e6a4c1f8d9e7a6b5c4d3e2f",
                "name": "demo",
                "domain_id": "default",
            }
        ]
    },
    "Links": [{"rel": "next", "href": f"{_URL}/jobs?limit=1&marker={_UUID}"}],
    "JobSummary": {**_SUMMARY, "waiting": None},
    "Job": _JOB,
    "Explanation": {
        "number": 12,
        "uuid": _UUID,
        "array": None,
        "state": "queued",
        "reason": _WHY["text"],
        "why": _WHY,
        "cure": waits.SLOTS.cure,
        "position": 3,
        **_PREDICTION,
        "unblock": None,
        "predictions": None,
        "begin_at": None,
        "dependencies": [],
        "events": [_HAPPENING],
    },
    "Cancelled": {
        "jobs": [_ASKED],
        "refused": [
            {
                "uuid": _OTHER,
                "status": 404,
                "code": "twotier.job.not_found",
                "detail": "there is no such job in your project",
            }
        ],
    },
    "Array": {
        "number": 20,
        "uuid": _OTHER,
        "name": "sweep",
        "project_id": "demo",
        "user_id": "alice",
        "pool": "default",
        "state": "running",
        "indexes": "0-99",
        "most_at_once": 8,
        "tasks": _counts(queued=90, running=8, finished=2),
        "waiting": "10-99",
        "submitted_at": _SUBMITTED,
        "finished_at": None,
        "links": [{"rel": "self", "href": f"{_URL}/arrays/20"}],
    },
    "ArrayAsked": {"jobs": [{**_ASKED, "array": {"number": 20, "index": 50}}]},
    "Event": {
        "id": "4711",
        **_HAPPENING,
        "job": _UUID,
        "job_number": 12,
        "array": None,
        "project_id": "demo",
    },
    "Queue": {
        "pool": "default",
        "mode": "active",
        "manager": {"running": True, "heartbeat_at": None, "text": "running"},
        "policy": _POLICY,
        "predictions": None,
        "project_id": "demo",
        "jobs": _counts(queued=4, running=23, finished=310),
        "processes": {"waiting": 96, "running": 257},
        "jobs_by_qos": {
            "waiting": {**_NO_JOBS, "normal": 3, "scavenger": 1},
            "running": {**_NO_JOBS, "normal": 23},
        },
        "qos_allowed": ["normal", "scavenger"],
        "limits": {
            "job_size": 10000,
            "jobs": {"used": 27, "allowed": 10000},
            "processes": {"used": 353, "allowed": -1},
            "slots": {
                "foreground_slots_per_user": -1,
                "background_slots_per_user": -1,
                "foreground_slots_per_project": 512,
                "background_slots_per_project": -1,
            },
        },
    },
    "Standing": _STANDING,
    "Standings": {
        "total": 1,
        "counts": {"waiting": 1, "started": 0},
        "projects": ["demo"],
        "jobs": [_STANDING],
    },
    "Drain": {
        "state": "draining",
        "reason": "new BIOS",
        "starts_at": _SUBMITTED,
        "ends_at": None,
        "migrate": True,
    },
    "TierOfHost": {"places": 16, "used": 12, "cpu": 9.4},
    "Host": {
        "name": "node17",
        "slots": 16,
        "tiers": 2,
        "closed": 2,
        "foreground": {"places": 16, "used": 12, "cpu": 9.4},
        "background": {"places": 14, "used": 5, "cpu": 1.1},
        "drain": None,
    },
    "Switch": {"path": "core/pod1/edge3", "rate": 40000, "used": 12000},
    "HostInNetwork": {
        "name": "node17",
        "pool": "default",
        "switch": "core/pod1/edge3",
        "rate": 10000,
        "used": 2500,
        "foreground": {"places": 16, "used": 12, "cpu": 9.4},
        "background": {"places": 14, "used": 5, "cpu": 1.1},
    },
}
