"""JSON Schemas (2020-12) of requests and answers, also used in the OpenAPI document.

Those of jobs are in `job_request_schemas`, `job_schemas` and `selection_schemas`, those of arrays
in `array_schemas`, those of hosts and network in `cluster_schemas`.
"""

from nova_twotier.conf.manager import SLOT_LIMITS
from nova_twotier.core import policies
from nova_twotier.core.qos import Qos
from nova_twotier.core.reasons import CODES, Effect
from nova_twotier.db.models import DEFAULT_POOL, NAME_LENGTH
from nova_twotier.db.states import JobState, QueueMode

#: Text without control characters.
PRINTABLE = "^[^\\x00-\\x1f\\x7f]*$"
#: The same, but not only spaces: lists would show nothing.
SHOWN = f"^(?!\\s+$){PRINTABLE.removeprefix('^')}"
COUNT = {"type": "integer", "minimum": 0}
NAME = {
    "type": "string",
    "maxLength": NAME_LENGTH,
    "pattern": PRINTABLE,
    "description": "A name without control characters. Names need not be unique.",
}
UUID = {"type": "string", "format": "uuid"}
NUMBER = {"type": "integer", "minimum": 1}
#: How a request names a job.
JOB_NAME = {
    "type": "string",
    "minLength": 1,
    "description": "The job's number, `12_3` for the task with index 3 of array 12, its "
    "uuid, or the beginning of its uuid: at least 4 characters, with a letter or a hyphen among "
    "them, since digits alone are a number. 409 if the uuids of several jobs begin so.",
}
STATES = [str(state) for state in JobState]
MODES = [str(mode) for mode in QueueMode]
POOL = {**NAME, "minLength": 1, "default": DEFAULT_POOL}


def object_of(properties: dict, required=None, **more) -> dict:
    """Schema of an object with exactly these properties, by default all of them required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
        **more,
    }


def list_of(name: str, item: dict) -> dict:
    """Schema of a page of a list, under its name, with the links to the others."""
    return object_of({name: {"type": "array", "items": item}, "links": {"$ref": "#Links"}})


IN_ARRAY = {
    "anyOf": [object_of({"number": NUMBER, "index": COUNT}), {"type": "null"}],
    "description": "The array of which the job is a task, and its index there; null: of none.",
}
#: A reason for programs; null if there is none.
WHY = {
    "anyOf": [{"$ref": "#Reason"}, {"type": "null"}],
    "description": "The reason for programs; null if there is none.",
}
REASON = object_of(
    {
        "code": {"enum": list(CODES), "description": "See doc/reasons.md."},
        "parameters": {
            "type": "object",
            "additionalProperties": {"type": ["string", "number"]},
            "description": "What the text says, by name; which there are depends on the code.",
        },
        "by": {
            "anyOf": [UUID, {"type": "null"}],
            "description": "The job that is to blame; null if there is none, or if it is another "
            "project's.",
        },
        "by_number": {"type": ["integer", "null"], "description": "The number of that job."},
        "effect": {
            "enum": [*map(str, Effect), None],
            "description": "What it has led to, if the code alone does not say that.",
        },
        "text": {"type": "string"},
    },
    description="A reason: its code and parameters, and its text for people.",
)
#: Properties of an event, without whose it is.
HAPPENING = {
    "at": {"type": "string", "format": "date-time"},
    "kind": {"type": "string"},
    "detail": {"type": "string"},
    "why": WHY,
    "asked_by": {
        "anyOf": [
            object_of(
                {
                    "user_id": {"type": ["string", "null"]},
                    "project_id": {"type": ["string", "null"]},
                }
            ),
            {"type": "null"},
        ],
        "description": "The user who asked for it through this API, and the project of the token "
        "(empty if it was for the whole system); "
        "both null for an operator of another project, whom only operators see. null: it came "
        "about otherwise, or was recorded before there was this property.",
    },
}
EVENT = object_of(
    {
        "id": {"type": "string", "description": "A marker for the events after it."},
        **HAPPENING,
        "job": {"anyOf": [UUID, {"type": "null"}]},
        "job_number": {"type": ["integer", "null"]},
        "array": IN_ARRAY,
        "project_id": {"type": ["string", "null"]},
    }
)
EVENTS = list_of("events", {"$ref": "#Event"})

_LIMIT = object_of(
    {
        "used": {"type": "integer", "minimum": 0},
        "allowed": {"type": "integer", "minimum": -1, "description": "-1: no limit."},
    }
)
#: What a request has instead of a policy, to go back to that of the configuration.
AS_CONFIGURED = "default"
QUEUE_CHANGE = object_of(
    {
        "mode": {
            "enum": MODES,
            "description": "`active`; `paused`: no job starts or is preempted, running jobs "
            "continue; `draining`: no new job is accepted, the others are served as usual.",
        },
        "policy": {
            "enum": [*policies.POLICIES, AS_CONFIGURED],
            "description": "The scheduling policy, from the manager's next poll on, and after "
            f"restarts of the manager, too; `{AS_CONFIGURED}`: that of the configuration. Jobs "
            "that run stay where they are until the new policy moves, preempts or promotes them: "
            "under policies with one tier, jobs in the background stay there until they end.",
        },
    },
    required=(),
    minProperties=1,
    description="give mode, policy or both",
    examples=[{"mode": "paused"}, {"policy": "easy"}],
)
QUEUE_POLICY = object_of(
    {
        "name": {"type": "string", "description": "The one that the queue manager uses."},
        "description": {"type": "string"},
        "configured": {
            "type": "string",
            "description": "`[manager]policy` in the configuration of the API.",
        },
        "set_to": {
            "type": ["string", "null"],
            "description": "What an operator has set at run time; null: the configured one counts. "
            "The manager follows at its next poll.",
        },
    },
    examples=[
        {
            "name": "easy",
            "description": policies.POLICIES["easy"].summary,
            "configured": "amcbf",
            "set_to": "easy",
        }
    ],
)
_RECORD = object_of({"held": COUNT, "of": COUNT})
PREDICTIONS = object_of(
    {
        "made_at": {
            "type": ["string", "null"],
            "format": "date-time",
            "description": "When the last ones were made.",
        },
        "estimator": {"type": "string", "description": "`[manager]estimator`."},
        "probability": {
            "type": "number",
            "description": "With which an interval is to hold the time that comes.",
        },
        "starts": {
            **_RECORD,
            "description": "How many of the last intervals have held the start of a job, of how "
            "many: of those that were told first, when the job began to wait.",
        },
        "finishes": {**_RECORD, "description": "The same of the ends of these jobs."},
    },
    examples=[
        {
            "made_at": "2026-11-25T02:41:07.120+00:00",
            "estimator": "sdpn",
            "probability": 0.8,
            "starts": {"held": 83, "of": 100},
            "finishes": {"held": 79, "of": 98},
        }
    ],
)
_QUEUE = {"pool": {"type": "string"}, "mode": {"enum": MODES}}
QUEUE_CHANGED = object_of({**_QUEUE, "policy": {"$ref": "#QueuePolicy"}})
QUEUE = object_of(
    {
        **_QUEUE,
        "manager": object_of(
            {
                "running": {"type": "boolean"},
                "heartbeat_at": {
                    "type": ["string", "null"],
                    "format": "date-time",
                    "description": "The last sign of life; null if there was none yet and, from "
                    "microversion 1.1 on, while a manager is at work.",
                },
                "text": {"type": "string", "description": "For people."},
            },
            description="Whether a queue manager is at work; without one, running jobs continue, "
            "and nothing is decided.",
        ),
        "policy": {"$ref": "#QueuePolicy"},
        "predictions": {
            "anyOf": [{"$ref": "#Predictions"}, {"type": "null"}],
            "description": "How right the predictions have been; null if none was made.",
        },
        "project_id": {
            "type": ["string", "null"],
            "description": "Whose jobs are counted; null: those of all projects.",
        },
        "jobs": object_of(dict.fromkeys(STATES, COUNT), description="Jobs by state."),
        "processes": object_of(
            {"waiting": COUNT, "running": COUNT},
            description="Processes of queued and of running jobs.",
        ),
        "jobs_by_qos": object_of(
            dict.fromkeys(("waiting", "running"), object_of(dict.fromkeys(map(str, Qos), COUNT))),
            description="Jobs that wait, and all others that are not over, by class of service.",
        ),
        "qos_allowed": {
            "type": "array",
            "items": {"enum": [str(qos) for qos in Qos]},
            "description": "The classes that jobs which the caller submits may have.",
        },
        "limits": {
            "anyOf": [
                object_of(
                    {
                        "job_size": {"type": "integer", "minimum": 1},
                        "jobs": _LIMIT,
                        "processes": _LIMIT,
                        "slots": object_of(
                            {
                                name.removeprefix("max_"): {"type": "integer", "minimum": -1}
                                for name in SLOT_LIMITS
                            },
                            description="Slots of a pool that jobs may hold at the same time; -1: "
                            "no limit.",
                        ),
                    }
                ),
                {"type": "null"},
            ],
            "description": "Of the project; null for all projects.",
        },
    }
)

_VERSION = object_of(
    {
        "id": {"type": "string"},
        "status": {"enum": ["CURRENT"]},
        "min_version": {"type": "string"},
        "max_version": {"type": "string"},
        "links": {"$ref": "#Links"},
    }
)
VERSIONS = object_of({"versions": {"type": "array", "items": {"$ref": "#Version"}}})
VERSION = object_of({"version": {"$ref": "#Version"}})

ERRORS = object_of(
    {
        "errors": {
            "type": "array",
            "minItems": 1,
            "items": object_of(
                {
                    "request_id": {"type": "string"},
                    "code": {"type": "string", "description": "For programs."},
                    "status": {"type": "integer"},
                    "title": {"type": "string"},
                    "detail": {"type": "string", "description": "For people."},
                    "links": {"type": "array"},
                    "min_version": {"type": "string"},
                    "max_version": {"type": "string"},
                    "used": {"type": "integer"},
                    "allowed": {"type": "integer"},
                },
                required=("request_id", "code", "status", "title", "detail", "links"),
            ),
        }
    }
)

#: Schemas that others reference as `#Name`, by their names in the OpenAPI document.
NAMED = {
    "Links": {
        "type": "array",
        "items": object_of(
            {
                "rel": {"enum": ["self", "next"]},
                "href": {"type": "string", "format": "uri-reference"},
            }
        ),
    },
    "Event": EVENT,
    "Reason": REASON,
    "Queue": QUEUE,
    "QueueChange": QUEUE_CHANGE,
    "QueuePolicy": QUEUE_POLICY,
    "Predictions": PREDICTIONS,
    "Version": _VERSION,
    "Errors": ERRORS,
}

PAGE = {
    "limit": {
        "type": "integer",
        "minimum": 1,
        "description": "Most items in the answer; the operator may allow fewer.",
    },
}
SORT_DIR = {"type": "string", "enum": ["asc", "desc"], "default": "asc"}
ALL_PROJECTS = {
    "all_projects": {
        "type": "boolean",
        "default": False,
        "description": "Of all projects, not only the token's own.",
    }
}
EVENTS_QUERY = {
    **PAGE,
    "sort_dir": {**SORT_DIR, "description": "`asc`: oldest first; `desc`: newest first."},
    "marker": {
        "type": "string",
        "pattern": "^[0-9]{1,10}$",
        "description": "Id of the last event of the page before, at most 2147483647.",
    },
    "since": {
        "type": "string",
        "format": "date-time",
        "description": "Only events of this time or later. To poll for new events, ask with the "
        "time of the newest known event minus a minute, and skip known ones: of events recorded "
        "at the same time, one with a lower id may appear later.",
    },
    "job": {**JOB_NAME, "description": f"Only of one job. {JOB_NAME['description']}"},
    "array": {**NUMBER, "maximum": 2**31 - 1, "description": "Only of the tasks of this array."},
    **ALL_PROJECTS,
}
QUEUE_CHANGE_QUERY = {"pool": {**POOL, "description": "The pool of hosts that the queue is for."}}
QUEUE_QUERY = {**QUEUE_CHANGE_QUERY, **ALL_PROJECTS}
