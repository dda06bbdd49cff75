"""JSON schemas of usage: what jobs used in a period."""

from nova_twotier.api.job_request_schemas import CLASSES
from nova_twotier.api.schemas import ALL_PROJECTS, COUNT, IN_ARRAY, NAME, object_of
from nova_twotier.db.usage import By

_TIME = {"type": "string", "format": "date-time"}
_SECONDS = {"type": "number", "minimum": 0}
_SUMS = {
    "foreground": {**_SECONDS, "description": "Slot-seconds in the foreground."},
    "background": {**_SECONDS, "description": "Slot-seconds in the background."},
    "lost": {
        **_SECONDS,
        "description": "Those of them in either tier whose work was discarded: what jobs had held "
        "when they began anew (they were killed to make room, or could not be saved or moved in "
        "time, their servers or a host failed, or they were requeued), or failed since their "
        "servers or a host did.",
    },
    "jobs_started": {**COUNT, "description": "Jobs that started for the first time."},
    "jobs_ended": {**COUNT, "description": "Jobs that ended, also those that never started."},
}
_EXAMPLE_SUMS = {
    "foreground": 7200.0,
    "background": 1800.0,
    "lost": 600.0,
    "jobs_started": 2,
    "jobs_ended": 1,
}
_EXAMPLE_PERIOD = {
    "start": "2026-11-01T00:00:00.000+00:00",
    "end": "2026-12-01T00:00:00.000+00:00",
}
_NO_JOB = {"job": None, "job_number": None, "job_name": None, "array": None}
TOTAL = object_of(_SUMS)
ROW = object_of(
    {
        "start": {**_TIME, "description": "Of the part of the period: a day, a month, or all."},
        "end": _TIME,
        "project_id": {
            "type": ["string", "null"],
            "description": "This and the next six: null if the usage is not summed by it.",
        },
        "user_id": {"type": ["string", "null"]},
        "pool": {"type": ["string", "null"]},
        "qos": {
            "enum": [*CLASSES, None],
            "description": "The class of service in which the slots were held, and of the jobs "
            "that started and ended the one that they have now. Null also for jobs that were "
            "purged before schema 0025.",
        },
        "job": {
            "type": ["string", "null"],
            "format": "uuid",
            "description": "Null also for the sum of jobs that were purged.",
        },
        "job_number": {"type": ["integer", "null"]},
        "job_name": {"type": ["string", "null"]},
        "array": IN_ARRAY,
        **_SUMS,
    }
)
USAGE = object_of(
    {
        "start": _TIME,
        "end": {**_TIME, "description": "Slots that are still held count until then."},
        "total": {"$ref": "#UsageTotal"},
        "usage": {
            "type": "array",
            "items": {"$ref": "#UsageRow"},
            "description": "The same by what `by` asks for; empty without it.",
        },
    },
    examples=[
        {
            **_EXAMPLE_PERIOD,
            "total": _EXAMPLE_SUMS,
            "usage": [
                {
                    **_EXAMPLE_PERIOD,
                    "project_id": None,
                    "user_id": "alice",
                    "pool": None,
                    "qos": None,
                    **_NO_JOB,
                    **_EXAMPLE_SUMS,
                }
            ],
        }
    ],
)

USAGE_QUERY = {
    "start": {
        **_TIME,
        "description": "Only from this time on; default: the beginning of the month of `end`, in "
        "UTC.",
    },
    "end": {
        **_TIME,
        "description": "Only until before this time; default: now, which is also the latest.",
    },
    "by": {
        "type": "array",
        "items": {"enum": [str(by) for by in By]},
        "uniqueItems": True,
        "description": "What to sum by, such as `project,month`. Days and months are those of "
        "UTC; give one of the two. With `job`, project, user and pool are told, too.",
        "examples": [["project", "month"]],
    },
    "project_id": {
        **NAME,
        "description": "Only of this project; of another one than the token's for those who see "
        "all projects.",
    },
    "user_id": {**NAME, "description": "Only of jobs of this user."},
    "pool": {**NAME, "description": "Only of jobs of this pool."},
    **ALL_PROJECTS,
}

NAMED = {"UsageTotal": TOTAL, "UsageRow": ROW, "Usage": USAGE}
