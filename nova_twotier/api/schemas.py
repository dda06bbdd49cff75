"""JSON Schemas (2020-12) of requests and answers, also used in the OpenAPI document."""

from nova_twotier.core.jobs import MAX_SIZE
from nova_twotier.db.models import DEFAULT_POOL, NAME_LENGTH
from nova_twotier.db.states import JobState, Preemption, QueueMode

#: Upper bound of run times, seconds: about 30 years.
MAX_RUN = 1e9
#: Upper bound of a process's bandwidth, Mbit/s.
MAX_BANDWIDTH = 1e6
#: Nova's own limit, in characters of base64.
MAX_USER_DATA = 65535
MAX_NETWORKS = 64
MAX_RETRIES = 100

#: Text without control characters.
PRINTABLE = "^[^\\x00-\\x1f\\x7f]*$"
COUNT = {"type": "integer", "minimum": 0}
NAME = {
    "type": "string",
    "maxLength": NAME_LENGTH,
    "pattern": PRINTABLE,
    "description": "A name without control characters. Names need not be unique.",
}
UUID = {"type": "string", "format": "uuid"}
_STATES = [str(state) for state in JobState]
_MODES = [str(mode) for mode in QueueMode]
_PREEMPTIONS = [str(way) for way in Preemption]
_TIME = {"type": ["string", "null"], "format": "date-time"}
_CPU = {"type": "number", "minimum": 0, "maximum": 1}
_POOL = {**NAME, "minLength": 1, "default": DEFAULT_POOL}


def object_of(properties: dict, required=None, **more) -> dict:
    """Schema of an object with exactly these properties, by default all of them required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
        **more,
    }


def _or_null(schema: dict, description: str) -> dict:
    """The schema or null, which is the same as leaving the property out."""
    kinds = [schema["type"], "null"]
    return {**schema, "type": kinds, "default": None, "description": description}


def _list(name: str, item: dict) -> dict:
    return object_of({name: {"type": "array", "items": item}, "links": {"$ref": "#Links"}})


JOB_REQUEST = object_of(
    {
        "size": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_SIZE,
            "description": "Number of processes, each in a server of its own.",
        },
        "cpu": {
            "anyOf": [_CPU, {"type": "array", "items": _CPU, "minItems": 1, "maxItems": MAX_SIZE}],
            "default": 1.0,
            "description": "CPU utilisation, 0 to 1, of every process, or a list with one for each",
        },
        "name": {**NAME, "default": ""},
        "estimate": {
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": MAX_RUN,
            "default": None,
            "description": "Estimated run time in seconds; null if it is not known.",
        },
        "held": {
            "type": "boolean",
            "default": False,
            "description": "Whether the job waits until it is released.",
        },
        "pool": {**_POOL, "description": "The pool of hosts that the job runs on."},
        "flavor": _or_null(
            {"type": "string", "minLength": 1, "maxLength": NAME_LENGTH, "pattern": PRINTABLE},
            "Name or id of the servers' flavor; null: the operator's for jobs.",
        ),
        "image": _or_null(UUID, "Of the servers; null: the operator's for jobs."),
        "networks": {
            "anyOf": [
                {"enum": ["none", "auto"]},
                {"type": "array", "items": UUID, "minItems": 1, "maxItems": MAX_NETWORKS},
                {"type": "null"},
            ],
            "default": None,
            "description": "A list of uuids of networks, or `none`, or `auto` for what Nova finds; "
            "null: the operator's for jobs.",
        },
        "key_name": _or_null(
            {"type": "string", "minLength": 1, "maxLength": NAME_LENGTH, "pattern": PRINTABLE},
            "The submitter's key pair with access to the servers; null: none.",
        ),
        "user_data": _or_null(
            {"type": "string", "minLength": 1, "maxLength": MAX_USER_DATA, "format": "byte"},
            "For cloud-init on every server, in base64, in one line. It is never shown again.",
        ),
        "keep_servers": {
            "type": "boolean",
            "default": False,
            "description": "Whether the servers are shelved and kept when the job has ended.",
        },
        "bandwidth": {
            "type": "number",
            "minimum": 0,
            "maximum": MAX_BANDWIDTH,
            "default": 0,
            "description": "Mbit/s that every process may exchange with the others: reserved on "
            "the network's links. Under a policy without such reservations the job waits.",
        },
        "preemption": {
            "enum": _PREEMPTIONS,
            "default": str(Preemption.SHELVE),
            "description": "What becomes of the servers if the job is preempted: `shelve` keeps "
            "their disks, `suspend` their memory too, on their hosts; with `requeue` they are "
            "deleted, and the job begins anew.",
        },
        "checkpoint": {
            "type": "boolean",
            "default": False,
            "description": "Whether the guests save their state when they are shut down. Policies "
            "that kill jobs preempt such a job as `preemption` says.",
        },
        "walltime": {
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
            "maximum": MAX_RUN,
            "default": None,
            "description": "Seconds that the job may run, in all its runs together since it last "
            "began anew; null: as long as it likes.",
        },
        "retries": {
            "type": "integer",
            "minimum": 0,
            "maximum": MAX_RETRIES,
            "description": "How often the job begins anew after its servers or their host broke; "
            "the default is the operator's.",
        },
        "report_token": _or_null(
            {"type": "string", "pattern": r"^[A-Za-z0-9_-]{16,64}$(?!\n)"},
            "Given, every guest reports its end before it powers itself off, by a line "
            "`twotier-exit TOKEN STATUS` on its serial console: 16 to 64 letters, digits, `-` and "
            "`_`, drawn at random for this job. One that is off without a report is started again; "
            "one that reports a status other than 0 makes the job fail. It is never shown again.",
        ),
    },
    required=("size",),
    examples=[{"size": 4, "cpu": 0.6, "name": "solver", "estimate": 3600, "walltime": 7200}],
)

_JOB = {
    "uuid": UUID,
    "name": {"type": "string"},
    "project_id": {"type": "string"},
    "user_id": {"type": "string"},
    "size": {"type": "integer", "minimum": 1},
    "estimate": {"type": ["number", "null"], "description": "Seconds."},
    "state": {"enum": _STATES},
    "tier": {"enum": ["fg", "bg", None], "description": "Foreground or background."},
    "held": {"type": "boolean"},
    "saved": {"type": "boolean", "description": "Whether it was preempted, with its state kept."},
    "start": {
        "type": ["string", "null"],
        "description": "How it could start, such as `immediate` or `backfilled`.",
    },
    "asked_to": {
        "enum": ["complete", "cancel", None],
        "description": "The action that its owner has requested; the manager carries it out.",
    },
    "reason": {"type": "string", "description": "Why it waits, or how it ended."},
    "submitted_at": {"type": "string", "format": "date-time"},
    "started_at": _TIME,
    "finished_at": _TIME,
    "evictions": COUNT,
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
    "preemption": {"enum": _PREEMPTIONS},
    "checkpoint": {"type": "boolean"},
    "walltime": {"type": ["number", "null"], "description": "Seconds."},
    "retries": COUNT,
    "requeues": {**COUNT, "description": "How often it began anew; at most `retries`."},
    "exit_status": {
        "type": ["integer", "null"],
        "description": "The first that is not 0 of those that its guests reported; null if it is "
        "not over, or one of them did not.",
    },
    "links": {"$ref": "#Links"},
}
JOB = object_of(
    {
        **_JOB,
        "cpu": {"type": "array", "items": _CPU},
        "has_user_data": {
            "type": "boolean",
            "description": "Whether it has user data, which is not shown because it may hold "
            "secrets. It is deleted when the job is over.",
        },
        "reports": {
            "type": "boolean",
            "description": "Whether its guests report their ends: it was given a `report_token`.",
        },
    }
)
JOBS = _list("jobs", {"$ref": "#JobSummary"})

_EVENT = {"at": {"type": "string", "format": "date-time"}, "kind": {"type": "string"}}
_EVENT["detail"] = {"type": "string"}
EVENT = object_of(
    {
        "id": {"type": "string", "description": "A marker for the events after it."},
        **_EVENT,
        "job": {"anyOf": [UUID, {"type": "null"}]},
        "project_id": {"type": ["string", "null"]},
    }
)
EVENTS = _list("events", {"$ref": "#Event"})

#: Number of most recent events in an explanation.
MOST_EVENTS = 100
EXPLANATION = object_of(
    {
        "uuid": UUID,
        "state": {"enum": _STATES},
        "reason": {"type": "string", "description": "In words, never empty."},
        "position": {
            "type": ["integer", "null"],
            "minimum": 1,
            "description": "In the queue, by arrival, 1 is next; null unless the job waits.",
        },
        "events": {
            "type": "array",
            "items": object_of(_EVENT),
            "maxItems": MOST_EVENTS,
            "description": "The last events, oldest first; the list of events has all.",
        },
    }
)

_LIMIT = object_of(
    {
        "used": {"type": "integer", "minimum": 0},
        "allowed": {"type": "integer", "minimum": -1, "description": "-1: no limit."},
    }
)
QUEUE_CHANGE = object_of(
    {
        "mode": {
            "enum": _MODES,
            "description": "`active`; `paused`: no job starts or is preempted, running jobs "
            "continue; `draining`: no new job is accepted, the others are served as usual.",
        }
    },
    examples=[{"mode": "paused"}],
)
_QUEUE = {"pool": {"type": "string"}, "mode": {"enum": _MODES}}
QUEUE_CHANGED = object_of(_QUEUE)
QUEUE = object_of(
    {
        **_QUEUE,
        "policy": object_of({"name": {"type": "string"}, "description": {"type": "string"}}),
        "project_id": {
            "type": ["string", "null"],
            "description": "Whose jobs are counted; null: those of all projects.",
        },
        "jobs": object_of(dict.fromkeys(_STATES, COUNT), description="Jobs by state."),
        "processes": object_of(
            {"waiting": COUNT, "running": COUNT},
            description="Processes of queued and of running jobs.",
        ),
        "limits": {
            "anyOf": [
                object_of(
                    {
                        "job_size": {"type": "integer", "minimum": 1},
                        "jobs": _LIMIT,
                        "processes": _LIMIT,
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
    "JobRequest": JOB_REQUEST,
    "Job": JOB,
    "JobSummary": object_of(_JOB, description="A job without its long fields."),
    "Event": EVENT,
    "Explanation": EXPLANATION,
    "Queue": QUEUE,
    "QueueChange": QUEUE_CHANGE,
    "Version": _VERSION,
    "Errors": ERRORS,
}

_PAGE = {
    "limit": {
        "type": "integer",
        "minimum": 1,
        "description": "Most items in the answer; the operator may allow fewer.",
    },
}
_ALL = {
    "all_projects": {
        "type": "boolean",
        "default": False,
        "description": "Of all projects, not only the token's own.",
    }
}
JOBS_QUERY = {
    **_PAGE,
    "marker": {**UUID, "description": "Uuid of the last job of the page before."},
    "state": {"type": "string", "enum": _STATES},
    "name": {**NAME, "description": "Exactly this name."},
    "pool": {**NAME, "description": "Exactly this pool."},
    **_ALL,
}
EVENTS_QUERY = {
    **_PAGE,
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
    "job": {**UUID, "description": "Only what happened to this job."},
    **_ALL,
}
QUEUE_CHANGE_QUERY = {"pool": {**_POOL, "description": "The pool of hosts that the queue is for."}}
QUEUE_QUERY = {**QUEUE_CHANGE_QUERY, **_ALL}
