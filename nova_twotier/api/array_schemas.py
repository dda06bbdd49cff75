"""JSON Schemas of job arrays, in requests and answers."""

from nova_twotier.api.job_request_schemas import JOB_CHANGE, JOB_REQUEST
from nova_twotier.api.schemas import COUNT, NUMBER, STATES, UUID, object_of
from nova_twotier.api.selection_schemas import CANCELLED
from nova_twotier.core.indexes import MOST_INDEX, MOST_TASKS
from nova_twotier.db.array_requests import ACTIONS, CHANGEABLE
from nova_twotier.db.states import JobState

#: How a request names an array.
ARRAY_NAME = {
    "type": "string",
    "minLength": 1,
    "description": "The array's number, or its uuid.",
}
#: Characters of a list of indexes.
MAX_INDEXES = 10_000
_TIME = {"type": ["string", "null"], "format": "date-time"}
_INDEXES = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_INDEXES,
    "description": f"Indexes, 0 to {MOST_INDEX}, as in Slurm: `0-99`, `1,3,5`, `0-98:2`; at most "
    f"{MOST_TASKS:,} of them, and none twice.",
}
_MOST_AT_ONCE = {
    "type": ["integer", "null"],
    "minimum": 1,
    "maximum": MOST_TASKS,
    "description": "Most tasks that are in the queue, or run, at the same time; null: all.",
}

ARRAY_REQUEST = object_of(
    {
        **JOB_REQUEST["properties"],
        "indexes": _INDEXES,
        "most_at_once": {**_MOST_AT_ONCE, "default": None},
    },
    required=("size", "indexes"),
    description="What each task is, as for a single job, and the indexes of the tasks.",
    examples=[{"size": 1, "indexes": "0-99", "most_at_once": 8, "name": "sweep", "walltime": 3600}],
)
ARRAY_CHANGE = object_of(
    {
        **{name: JOB_CHANGE["properties"][name] for name in CHANGEABLE},
        "most_at_once": {
            **_MOST_AT_ONCE,
            "description": f"{_MOST_AT_ONCE['description']} Tasks that run go on; those that wait "
            "are counted anew.",
        },
    },
    required=(),
    minProperties=1,
    description="What is to change of the array, and of its tasks that have not started; those "
    "that have are changed one by one, as jobs.",
    examples=[{"most_at_once": 16}],
)
ARRAY = object_of(
    {
        "number": {**NUMBER, "description": "That of its first task."},
        "uuid": UUID,
        "name": {"type": "string"},
        "project_id": {"type": "string"},
        "user_id": {"type": "string"},
        "pool": {"type": "string"},
        "state": {
            "enum": [
                str(state)
                for state in (
                    JobState.QUEUED,
                    JobState.RUNNING,
                    JobState.FINISHED,
                    JobState.FAILED,
                    JobState.CANCELLED,
                )
            ],
            "description": "`queued` if all tasks are, `running` until all are over; then `failed` "
            "or `cancelled` if one is, else `finished`.",
        },
        "indexes": {"type": "string", "description": "As they were submitted."},
        "most_at_once": _MOST_AT_ONCE,
        "tasks": object_of(dict.fromkeys(STATES, COUNT), description="Tasks by state."),
        "waiting": {
            "type": "string",
            "description": "The indexes of the tasks that are queued with nothing saved; empty: "
            "none.",
        },
        "submitted_at": {"type": "string", "format": "date-time"},
        "finished_at": {**_TIME, "description": "When the last task was over; null: not yet."},
        "links": {"$ref": "#Links"},
    }
)
ARRAY_ACTION = object_of(
    {
        "action": {"enum": list(ACTIONS)},
        "indexes": {**_INDEXES, "description": f"Only these tasks. {_INDEXES['description']}"},
    },
    required=("action",),
    description="Asked of the tasks that are not over; `complete` and `requeue` of those that have "
    "started.",
    examples=[{"action": "cancel", "indexes": "50-99"}],
)
ARRAY_ASKED = object_of(
    {
        "jobs": {
            **CANCELLED["properties"]["jobs"],
            "description": "The tasks of which it was asked.",
        }
    }
)

NAMED = {
    "ArrayRequest": ARRAY_REQUEST,
    "ArrayChange": ARRAY_CHANGE,
    "Array": ARRAY,
    "ArrayAction": ARRAY_ACTION,
    "ArrayAsked": ARRAY_ASKED,
}
