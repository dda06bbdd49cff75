"""JSON Schemas of jobs, in requests and answers."""

from nova_twotier.api import server_schemas
from nova_twotier.api.prediction_schemas import PREDICTION, PREDICTIONS
from nova_twotier.api.schemas import (
    ALL_PROJECTS,
    COUNT,
    HAPPENING,
    IN_ARRAY,
    NAME,
    NUMBER,
    PAGE,
    POOL,
    PRINTABLE,
    SORT_DIR,
    STATES,
    UUID,
    WHY,
    list_of,
    object_of,
)
from nova_twotier.core.jobs import MAX_SIZE
from nova_twotier.core.qos import NORMAL, Qos
from nova_twotier.db.dependencies import Condition
from nova_twotier.db.models import NAME_LENGTH
from nova_twotier.db.states import OVER, Preemption

#: Upper bound of run times, seconds: about 30 years.
MAX_RUN = 1e9
#: Upper bound of a process's bandwidth, Mbit/s.
MAX_BANDWIDTH = 1e6
#: Nova's own limit, in characters of base64.
MAX_USER_DATA = 65535
MAX_NETWORKS = 64
MAX_URL = 2048
MAX_RETRIES = 100
#: Of a job, on other jobs.
MAX_DEPENDENCIES = 100
#: Upper bound of a priority, and with a minus sign the lower one.
MAX_PRIORITY = 1000

_CLASSES = [str(qos) for qos in Qos]
_PREEMPTIONS = [str(way) for way in Preemption]
_CONDITION = {
    "enum": [str(condition) for condition in Condition],
    "description": "`after`: the other job has started, or is over; `after-ok`: it has finished; "
    "`after-any`: it is over, in whatever way.",
}
_TIME = {"type": ["string", "null"], "format": "date-time"}
_CPU = {"type": "number", "minimum": 0, "maximum": 1}
_PRIORITY = {
    "type": "integer",
    "minimum": -MAX_PRIORITY,
    "maximum": MAX_PRIORITY,
    "description": "Among the waiting jobs of its project and pool: those with higher priorities "
    "get the earlier ones of the places that these jobs have in the queue.",
}


def _or_null(schema: dict, description: str) -> dict:
    """A schema that also takes null: the property then counts as left out."""
    kinds = [schema["type"], "null"]
    return {**schema, "type": kinds, "default": None, "description": description}


JOB_REQUEST = object_of(
    {
        "size": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_SIZE,
            "description": "Number of processes, each in a server of its own.",
        },
        "cpu": {
            "anyOf": [
                {**_CPU, "type": ["number", "null"]},
                {"type": "array", "items": _CPU, "minItems": 1, "maxItems": MAX_SIZE},
            ],
            "default": None,
            "description": "CPU utilisation, 0 to 1, of every process, or a list with one for "
            "each; null if it is not known: then only a measurement closes a slot to the "
            "background.",
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
        "pool": {**POOL, "description": "The pool of hosts that the job runs on."},
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
            "one that reports a status other than 0 makes the job fail. With `checkpoint`, a line "
            "`twotier-saved TOKEN TIME`, with the time in the notice of a preemption, says that it "
            "has saved and may be shut down. It is never shown again.",
        ),
        "webhook": _or_null(
            {"type": "string", "minLength": 1, "maxLength": MAX_URL},
            "A URL to which every event of the job is posted, among those that the operator "
            "allows. It is never shown again as a whole, since it may hold secrets.",
        ),
        "webhook_secret": _or_null(
            {"type": "string", "minLength": 1, "maxLength": NAME_LENGTH},
            "The key that signs what is posted: 24 to 64 random bytes in base64, after `whsec_` or "
            "alone. It is never shown again.",
        ),
        "priority": {**_PRIORITY, "default": 0},
        "begin_at": _or_null(
            {"type": "string", "format": "date-time"},
            "The job is not in the queue before this time, at most 30 years from now.",
        ),
        "dependencies": {
            "type": "array",
            "items": object_of(
                {
                    "condition": _CONDITION,
                    "job": {
                        "type": ["string", "integer"],
                        "minLength": 1,
                        "description": "Number, uuid, or beginning of the uuid of a job of the "
                        "same project.",
                    },
                    "array": {
                        **NUMBER,
                        "maximum": 2**31 - 1,
                        "description": "Instead of a job: number of an array of the same project, "
                        "all of whose tasks must meet the condition.",
                    },
                },
                required=("condition",),
                oneOf=[{"required": ["job"]}, {"required": ["array"]}],
                description="give job or array, not both",
            ),
            "maxItems": MAX_DEPENDENCIES,
            "default": [],
            "description": "The job is not in the queue before all of these are met. If one never "
            "can be, because a job with `after-ok` failed or was cancelled, this job is cancelled.",
        },
        "peers": {
            "type": "boolean",
            "default": False,
            "description": "Whether the metadata of the servers tell every guest which process of "
            "the job it is, and the addresses of all of them: `twotier_env`, `twotier_name`, "
            "`twotier_peers`, as doc/api.md describes them.",
        },
        "qos": {
            "enum": _CLASSES,
            "default": str(NORMAL),
            "description": "Class of service, if the operator has switched classes on: `urgent` "
            "jobs are ahead of all others, for callers whom `twotier:jobs:qos:urgent` allows it; a "
            "`scavenger` is behind all others, runs in the background only, and is preempted as "
            "soon as another job could start there without it.",
        },
    },
    required=("size",),
    examples=[{"size": 4, "cpu": 0.6, "name": "solver", "estimate": 3600, "walltime": 7200}],
)


def _changeable(name: str) -> dict:
    """The schema of a property in a change of a job: as in a submission, but without a default."""
    return {key: it for key, it in JOB_REQUEST["properties"][name].items() if key != "default"}


JOB_CHANGE = object_of(
    {
        "name": _changeable("name"),
        "estimate": _changeable("estimate"),
        "walltime": {
            **_changeable("walltime"),
            "description": "Seconds that the job may run, in all its runs together since it last "
            "began anew, and more than it has run; null: as long as it likes. A job that has slots "
            "gets a longer one only from callers whom `twotier:jobs:set:extend` allows it.",
        },
        "priority": _PRIORITY,
        "qos": {
            **_changeable("qos"),
            "description": "Class of service; of a job that waits. See the submission.",
        },
    },
    required=(),
    minProperties=1,
    description="What is to change; all else stays as it is.",
    examples=[{"walltime": 3600, "priority": 10}],
)

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
        "type": "number",
        "minimum": 0,
        "description": "Seconds that it has run, in all its runs together since it last began "
        "anew.",
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
    "preemption": {"enum": _PREEMPTIONS},
    "checkpoint": {"type": "boolean"},
    "walltime": {"type": ["number", "null"], "description": "Seconds."},
    "retries": COUNT,
    "requeues": {
        **COUNT,
        "description": "How often it began anew after failures, at most `retries`; not because its "
        "owner asked for it.",
    },
    "begin_at": {**_TIME, "description": "It is not in the queue before; null: no such time."},
    "priority": {"type": "integer", "description": "Among the waiting jobs of its project."},
    "qos": {"enum": _CLASSES, "description": "Class of service."},
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
            "condition": _CONDITION,
            "number": {**NUMBER, "description": "Of the other job, or of the array."},
            "array": {"type": "boolean", "description": "Whether it is all tasks of an array."},
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
            "items": _CPU,
            "description": "CPU utilisation as its owner declared it; null: unknown.",
        },
        "learned_cpu": {
            "type": ["array", "null"],
            "items": _CPU,
            "description": "Mean CPU utilisation as it was measured of its owner's last job of the "
            "same name, flavor and image; it counts instead of the declared one.",
        },
        "measured_cpu": {
            "type": ["array", "null"],
            "items": {**_CPU, "type": ["number", "null"]},
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
JOBS = list_of("jobs", {"$ref": "#JobSummary"})

#: Number of most recent events in an explanation.
MOST_EVENTS = 100
EXPLANATION = object_of(
    {
        "number": NUMBER,
        "uuid": UUID,
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
            "in the queue.",
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

#: Which jobs, in a query or a body.
_FILTERS = {
    "name": {**NAME, "description": "Exactly this name."},
    "name_pattern": {
        **NAME,
        "description": "A pattern of the name: `*` stands for any characters, `?` for one.",
    },
    "user_id": {**NAME, "description": "Id of the user who submitted it."},
    "pool": {**NAME, "description": "Exactly this pool."},
}
JOBS_QUERY = {
    **PAGE,
    "marker": {**UUID, "description": "Uuid of the last job of the page before."},
    "sort_dir": {
        **SORT_DIR,
        "description": "By submission: `asc`, oldest first, or `desc`, newest first.",
    },
    "state": {
        "type": "array",
        "items": {"type": "string", "enum": STATES},
        "minItems": 1,
        "description": "In one of these states, separated by commas.",
    },
    "active": {
        "type": "boolean",
        "description": "Only jobs that are not over (`true`), or that are (`false`).",
    },
    "since": {
        "type": "string",
        "format": "date-time",
        "description": "Only jobs that are not over, or ended at this time or later.",
    },
    **_FILTERS,
    "array": {
        **NUMBER,
        "maximum": 2**31 - 1,
        "description": "Only tasks of the array of this number.",
    },
    "collapsed": {
        "type": "boolean",
        "default": False,
        "description": "Of the tasks of an array that wait, list only the first, and the first "
        "that is held; `waiting` has the indexes for which it stands.",
    },
    **ALL_PROJECTS,
}

#: Most uuids in a request: its body is well within the default limit.
MOST_UUIDS = 1000
CANCEL_QUERY = ALL_PROJECTS
CANCEL_REQUEST = object_of(
    {
        "uuids": {
            "type": "array",
            "items": UUID,
            "minItems": 1,
            "maxItems": MOST_UUIDS,
            "description": "These jobs, in any project in which the caller may cancel them.",
        },
        "all": {"enum": [True], "description": "All jobs of the project that are not over."},
        "state": {
            "type": "array",
            "items": {"enum": [state for state in STATES if state not in OVER]},
            "minItems": 1,
            "description": "In one of these states.",
        },
        # An empty name is a mistake rather than a wish to cancel all jobs without a name.
        **{name: {**schema, "minLength": 1} for name, schema in _FILTERS.items()},
    },
    required=(),
    minProperties=1,
    description="Say which jobs to cancel: those that match everything that is given here. Of "
    "jobs that are over, only those with a given uuid are reported.",
    examples=[{"name_pattern": "solver-*", "state": ["queued"]}],
)
CANCELLED = object_of(
    {
        "jobs": {
            "type": "array",
            "items": object_of(
                {
                    name: _JOB[name]
                    for name in ("number", "uuid", "name", "state", "held", "asked_to", "array")
                }
            ),
            "description": "The jobs that the manager will cancel.",
        },
        "refused": {
            "type": "array",
            "items": object_of(
                {
                    "uuid": UUID,
                    "status": {
                        "type": "integer",
                        "description": "The HTTP status, if it were the only job.",
                    },
                    "code": {"type": "string", "description": "For programs."},
                    "detail": {"type": "string", "description": "For people."},
                }
            ),
            "description": "The jobs that the caller may not cancel, or that are over.",
        },
    }
)

NAMED = {
    "JobRequest": JOB_REQUEST,
    "JobChange": JOB_CHANGE,
    "Job": JOB,
    "JobSummary": object_of(
        {**_JOB, "waiting": _WAITING}, description="A job without its long fields."
    ),
    "Explanation": EXPLANATION,
    "CancelRequest": CANCEL_REQUEST,
    "Cancelled": CANCELLED,
}
