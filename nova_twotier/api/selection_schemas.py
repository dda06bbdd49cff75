"""JSON Schemas that say which jobs are meant, in a list and in the cancellation of many."""

from nova_twotier.api.job_request_schemas import CLASSES
from nova_twotier.api.job_schemas import ASKED
from nova_twotier.api.schemas import (
    ALL_PROJECTS,
    NAME,
    NUMBER,
    PAGE,
    SORT_DIR,
    STATES,
    UUID,
    object_of,
)
from nova_twotier.db.states import OVER

_QOS = {
    "type": "array",
    "items": {"enum": CLASSES},
    "minItems": 1,
    "description": "In one of these classes of service.",
}
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
    "qos": {**_QOS, "description": "In one of these classes of service, separated by commas."},
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
        "qos": _QOS,
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
            "items": ASKED,
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

NAMED = {"CancelRequest": CANCEL_REQUEST, "Cancelled": CANCELLED}
