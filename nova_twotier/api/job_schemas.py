"""JSON Schemas of jobs as they are shown, and of what explains them."""

from nova_twotier.api import server_schemas
from nova_twotier.api.job_request_schemas import CLASSES, CONDITION, CPU, PREEMPTIONS
from nova_twotier.api.prediction_schemas import PREDICTION, PREDICTIONS
from nova_twotier.api.schemas import (
    COUNT,
    HAPPENING,
    IN_ARRAY,
    NUMBER,
    STATES,
    UUID,
    WHY,
    list_of,
    object_of,
)
from nova_twotier.api.versions import CONDITIONAL

_TIME = {"type": ["string", "null"], "format": "date-time"}
_JOB = {
    "number": {**NUMBER, "description": "Its number, as in the names of its servers."},
    "uuid": UUID,
    "name": {"type": "string"},
    "project_id": {"type": "string"},
    "user_id": {"type": "string"},
    "size": {"type": "integer", "minimum": 1},
    "estimate": {"type": ["number", "null"], "description": "Seconds."},
    "estimate_from_history": {
        "type": ["object", "null"],
        "description": "What counts instead of an estimate, which its owner does not give: the "
        "median run time of similar finished jobs; null if there is an estimate, or if the "
        "operator has not chosen this.",
        "properties": {
            "seconds": {"type": "number", "minimum": 0},
            "similar_jobs": {"type": "integer", "minimum": 1},
        },
        "required": ["seconds", "similar_jobs"],
        "additionalProperties": False,
    },
    "state": {"enum": STATES},
    "tier": {"enum": ["fg", "bg", None], "description": "Foreground or background."},
    "held": {"type": "boolean"},
    "saved": {"type": "boolean", "description": "Whether it was preempted, with its state kept."},
    "start": {
        "type": ["string", "null"],
        "description": "How it could start, such as `immediate` or `backfilled`.",
    },
    "asked_to": {
        "enum": ["complete", "cancel", "requeue", None],
        "description": "The action that its owner has requested; the manager carries it out.",
    },
    "reason": {"type": "string", "description": "Why it waits, or how it ended, in words."},
    "why": WHY,
    "submitted_at": {"type": "string", "format": "date-time"},
    "started_at": _TIME,
    "finished_at": _TIME,
    **PREDICTION,
    "elapsed": {
        "type": ["number", "null"],
        "minimum": 0,
        "description": "Seconds that it has run, in all its runs together since it last began "
        f"anew. null in lists from microversion {CONDITIONAL} on: add the time since `run_since` "
        "to `run_before`.",
    },
    "run_since": {
        **_TIME,
        "description": "When its present run began; while some of its servers are shelved, so "
        "that it cannot work, a time to come: the earliest at which it goes on. null if it does "
        "not run.",
    },
    "run_before": {
        "type": "number",
        "minimum": 0,
        "description": "Seconds of its earlier runs since it last began anew.",
    },
    "evictions": {
        **COUNT,
        "description": "How often it was preempted and left its slots.",
    },
    "restores": COUNT,
    "swaps": COUNT,
    "migrations": COUNT,
    "failures": COUNT,
    "pool": {"type": "string"},
    "flavor": {"type": ["string", "null"]},
    "image": {"type": ["string", "null"]},
    "networks": {
        "anyOf": [
            {"enum": ["none", "auto", None]},
            {"type": "array", "items": UUID},
        ]
    },
    "key_name": {"type": ["string", "null"]},
    "keep_servers": {"type": "boolean"},
    "bandwidth": {"type": "number", "minimum": 0, "description": "Mbit/s of every process."},
    "queue_offset": {
        "type": ["number", "null"],
        "description": "Seconds by which fair share puts it behind its submission, its release or "
        "the opening of its gates in the queue; null without fair share, or while it is not "
        "eligible.",
    },
    "preemption": {"enum": PREEMPTIONS},
    "checkpoint": {"type": "boolean"},
    "walltime": {"type": ["number", "null"], "description": "Seconds."},
    "retries": COUNT,
    "requeues": {
        **COUNT,
        "description": "How often it began anew after failures, at most `retries`; not because a "
        "user asked for it.",
    },
    "begin_at": {**_TIME, "description": "It is not in the queue before; null: no such time."},
    "priority": {"type": "integer", "description": "Among the waiting jobs of its project."},
    "qos": {"enum": CLASSES, "description": "Class of service."},
    "exit_status": {
        "type": ["integer", "null"],
        "description": "The first that is not 0 of those that its guests reported; null if it is "
        "not over, or one of them did not.",
    },
    "array": IN_ARRAY,
    "links": {"$ref": "#Links"},
}
_WAITING = {
    "type": ["string", "null"],
    "description": "With `collapsed=true`, in the list: the indexes of the tasks of its array "
    "that wait, for which this one stands, and the limit, as in `4-99%8`, or of those that are "
    "held; else null.",
}
_DEPENDENCIES = {
    "type": "array",
    "items": object_of(
        {
            "condition": CONDITION,
            "number": {**NUMBER, "description": "Of the other job, or of the array."},
            "array": {"type": "boolean", "description": "Whether it is all tasks of an array."},
            "task": {
                **IN_ARRAY,
                "description": "The array of which the other job is a task, and its index there; "
                "null: of none, or it is all tasks of an array.",
            },
            "met_at": {**_TIME, "description": "Since when it is met; null: it is not yet."},
        }
    ),
    "description": "All have to be met before the job is in the queue.",
}
JOB = object_of(
    {
        **_JOB,
        "dependencies": _DEPENDENCIES,
        "cpu": {
            "type": ["array", "null"],
            "items": CPU,
            "description": "CPU utilisation as its owner declared it; null: unknown.",
        },
        "learned_cpu": {
            "type": ["array", "null"],
            "items": CPU,
            "description": "Mean CPU utilisation as it was measured of its owner's last job of the "
            "same name, flavor and image; it counts instead of the declared one.",
        },
        "measured_cpu": {
            "type": ["array", "null"],
            "items": {**CPU, "type": ["number", "null"]},
            "description": "CPU utilisation that node agents have measured and that counts instead "
            "of what was learned or declared; null for processes of which they have said nothing, "
            "or if they have said nothing of any.",
        },
        "has_user_data": {
            "type": "boolean",
            "description": "Whether it has user data, which is not shown because it may hold "
            "secrets. It is deleted when the job is over.",
        },
        "reports": {
            "type": "boolean",
            "description": "Whether its guests report their ends: it was given a `report_token`.",
        },
        "webhook": {
            "anyOf": [
                object_of(
                    {
                        "origin": {"type": "string", "description": "Scheme, host and port."},
                        "undelivered": {**COUNT, "description": "Events that are still to come."},
                        "error": {
                            "type": ["string", "null"],
                            "description": "Why the last attempt failed, in words.",
                        },
                    }
                ),
                {"type": "null"},
            ],
            "description": "Where its events are posted; null: nowhere.",
        },
        **server_schemas.FIELDS,
        "peers": {
            "type": "boolean",
            "description": "Whether its guests are told who and where its processes are.",
        },
    }
)
SUMMARY = object_of({**_JOB, "waiting": _WAITING}, description="A job without its long fields.")
JOBS = list_of("jobs", {"$ref": "#JobSummary"})

#: Number of most recent events in an explanation.
MOST_EVENTS = 100
EXPLANATION = object_of(
    {
        "number": NUMBER,
        "uuid": UUID,
        "array": _JOB["array"],
        "state": {"enum": STATES},
        "reason": {"type": "string", "description": "Its state and the reason, never empty."},
        "why": WHY,
        "cure": {
            "type": ["string", "null"],
            "description": "What its owner can do about it, in words; null without a reason.",
        },
        "position": {
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "In the queue, by submission, release or the opening of its gates, or "
            "by priority in its project; the policy may start others first. Null unless the job is "
            "in the queue, and with fair share until the manager has decided how far it is put "
            "back.",
        },
        **PREDICTION,
        "unblock": {
            **WHY,
            "description": "What its expected start depends on; null if that is not known.",
        },
        "predictions": PREDICTIONS,
        "begin_at": _JOB["begin_at"],
        "dependencies": _DEPENDENCIES,
        "events": {
            "type": "array",
            "items": object_of(HAPPENING),
            "maxItems": MOST_EVENTS,
            "description": "The last events, oldest first; the list of events has all.",
        },
    }
)

#: A job in the answer to a request about many.
ASKED = object_of(
    {name: _JOB[name] for name in ("number", "uuid", "name", "state", "held", "asked_to", "array")}
)

NAMED = {
    "Job": JOB,
    "JobSummary": SUMMARY,
    "Explanation": EXPLANATION,
}
