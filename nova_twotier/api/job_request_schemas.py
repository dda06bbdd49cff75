"""JSON Schemas of what is asked for: new jobs, and changes of jobs."""

from nova_twotier.api.schemas import NAME, NUMBER, POOL, PRINTABLE, SHOWN, UUID, object_of
from nova_twotier.core import durations
from nova_twotier.core.jobs import MAX_SIZE, MAX_USER_DATA
from nova_twotier.core.qos import NORMAL, Qos
from nova_twotier.db.dependencies import Condition
from nova_twotier.db.models import NAME_LENGTH
from nova_twotier.db.states import Preemption

#: Upper bound of run times, seconds.
MAX_RUN = durations.LONGEST
#: Upper bound of a process's bandwidth, Mbit/s.
MAX_BANDWIDTH = 1e6
MAX_NETWORKS = 64
MAX_URL = 2048
MAX_RETRIES = 100
#: Of a job, on other jobs.
MAX_DEPENDENCIES = 100
#: Upper bound of a priority, and with a minus sign the lower one.
MAX_PRIORITY = 1000

CLASSES = [str(qos) for qos in Qos]
PREEMPTIONS = [str(way) for way in Preemption]
CONDITION = {
    "enum": [str(condition) for condition in Condition],
    "description": "`after`: the other job has started, or is over; `after-ok`: it has finished; "
    "`after-any`: it is over, in whatever way.",
}
CPU = {"type": "number", "minimum": 0, "maximum": 1}
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
                {**CPU, "type": ["number", "null"]},
                {"type": "array", "items": CPU, "minItems": 1, "maxItems": MAX_SIZE},
            ],
            "default": None,
            "description": "CPU utilisation, 0 to 1, of every process, or a list with one for "
            "each; null if it is not known: then only a measurement closes a slot to the "
            "background.",
        },
        "name": {
            **NAME,
            "pattern": SHOWN,
            "default": "",
            "description": "A name without control characters, and not only spaces; empty: "
            "none. Names need not be unique.",
        },
        "estimate": {
            "type": ["number", "null"],
            "exclusiveMinimum": 0,
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
            "enum": PREEMPTIONS,
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
            {"type": "string", "pattern": r"^[A-Za-z0-9_-]{16,64}$"},
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
                    "condition": CONDITION,
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
                description="give job or array, and only one of them",
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
            "enum": CLASSES,
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

NAMED = {"JobRequest": JOB_REQUEST, "JobChange": JOB_CHANGE}
