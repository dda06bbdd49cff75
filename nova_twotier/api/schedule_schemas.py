"""JSON Schemas of the schedule: stays on slots, recorded and predicted."""

from nova_twotier.api.schemas import COUNT, IN_ARRAY, NAME, NUMBER, PAGE, UUID, object_of

#: What can be asked for alone.
RECORDED, PREDICTED_PART = "recorded", "predicted"
#: Of `first_hosts`: more than one view shows at once.
MOST_HOSTS = 500

_TIME = {"type": "string", "format": "date-time"}
_MAYBE = {"type": ["string", "null"], "format": "date-time"}
_INTERVAL = "of the interval that holds it with a probability of 80 %; null if that is not known."


def _times(name: str, description: str) -> dict:
    """A predicted time with its interval."""
    return {
        name: {**_MAYBE, "description": description},
        f"{name}_low": {**_MAYBE, "description": f"Begin {_INTERVAL}"},
        f"{name}_high": {**_MAYBE, "description": f"End {_INTERVAL}"},
    }


JOB = object_of(
    {
        "number": NUMBER,
        "uuid": UUID,
        "name": {"type": "string"},
        "project_id": {"type": "string"},
        "array": IN_ARRAY,
    }
)
_OF_JOB = {
    "size": {"type": "integer", "minimum": 1, "description": "Of the job, in processes."},
    "pool": {"type": "string"},
}
_WHICH = {
    "anyOf": [{"$ref": "#JobOfStay"}, {"type": "null"}],
    "description": "null: of another project, and the reader may not see which.",
}
STAY = object_of(
    {
        "host": {
            "type": "string",
            "description": "As the list of hosts has it: a name, or for those who may not see "
            "names, an id that is the same in all answers to their project.",
        },
        "slot": {
            **COUNT,
            "type": ["integer", "null"],
            "description": "Number of the slot in its tier of the host, from 0, for the whole "
            "stay; stays on one slot and tier do not overlap. With more than two tiers, the "
            "background has several such numbers for each slot. null: recorded by an earlier "
            "release.",
        },
        "tier": {"enum": ["fg", "bg"]},
        "from": _TIME,
        "to": {**_MAYBE, "description": "null: it still holds the slot."},
        **_times(
            "predicted_to",
            "When the job is expected to end that still holds it; null if that is not known.",
        ),
        **_OF_JOB,
        "process": {
            **COUNT,
            "type": ["integer", "null"],
            "description": "Which one of the job, from 0; null if the job is not shown.",
        },
        "job": _WHICH,
    },
    description="A slot that a process holds or held, without a break: one that is preempted "
    "and restored, swapped or moved has several stays.",
)
PREDICTED = object_of(
    {
        **_times("from", "When the job is expected to start."),
        **_times("to", "When it is expected to end; null if that is not known."),
        "predicted_at": _TIME,
        **_OF_JOB,
        "job": _WHICH,
    },
    description="A waiting job that is expected to have slots; which ones is not known.",
)
_EXAMPLE = {
    "from": "2026-11-25T00:00:00.000+00:00",
    "to": None,
    "stays": [
        {
            "host": "c0ffee43b9e3c7e1a5b4f0f7a3f1d2e5c6b7a8990f1e2d3c4b5a6978",
            "slot": 2,
            "tier": "fg",
            "from": "2026-11-25T01:41:07.120+00:00",
            "to": None,
            "predicted_to": "2026-11-25T03:10:12.000+00:00",
            "predicted_to_low": "2026-11-25T02:55:40.000+00:00",
            "predicted_to_high": "2026-11-25T03:31:00.000+00:00",
            "size": 8,
            "pool": "default",
            "process": None,
            "job": None,
        }
    ],
    "predicted": [
        {
            "from": "2026-11-25T03:10:12.000+00:00",
            "from_low": "2026-11-25T02:55:40.000+00:00",
            "from_high": "2026-11-25T03:31:00.000+00:00",
            "to": "2026-11-25T05:02:00.000+00:00",
            "to_low": None,
            "to_high": None,
            "predicted_at": "2026-11-25T02:48:03.120+00:00",
            "size": 4,
            "pool": "default",
            "job": {
                "number": 12,
                "uuid": "5e0f7b6c-0f5a-4c7a-9d0e-3b1f4a1f7a10",
                "name": "solver",
                "project_id": "demo",
                "array": None,
            },
        }
    ],
    "links": [],
}
SCHEDULE = object_of(
    {
        "from": _TIME,
        "to": {**_MAYBE, "description": "null: the window has no end."},
        "stays": {
            "type": "array",
            "items": {"$ref": "#Stay"},
            "description": "Recorded ones with a part in the window, by their begin; times before "
            "or after it are not cut off.",
        },
        "predicted": {
            "type": "array",
            "items": {"$ref": "#PredictedStay"},
            "description": "Of waiting jobs, by start, on the last pages: after all recorded ones.",
        },
        "links": {"$ref": "#Links"},
    },
    examples=[_EXAMPLE],
)

SCHEDULE_QUERY = {
    **PAGE,
    "marker": {
        "type": "string",
        "pattern": "^p?[0-9]{1,11}\\.[0-9]{7}_[0-9]{1,10}$",
        "description": "Where the page before ended, as the link to the next page has it.",
    },
    "from": {
        **_TIME,
        "description": "Only stays that end after this time, at most 31 days before `to` or "
        "now; default: a day before the last full hour, or before that of `to`.",
    },
    "to": {**_TIME, "description": "Only stays that begin before this time; default: no end."},
    "pool": {**NAME, "description": "Only of jobs of this pool."},
    "changed_since": {
        **_TIME,
        "description": "Of the recorded stays only those that began or ended at this time or "
        "later. What has just happened may be recorded a little later: take a time a minute "
        "before the latest one that you know.",
    },
    "first_hosts": {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_HOSTS,
        "description": "Of the recorded stays only those on so many hosts: the first ones, in the "
        "order of their names with numbers by their value, of all that had stays in the window.",
    },
    "part": {
        "type": "string",
        "enum": [RECORDED, PREDICTED_PART],
        "description": "Only the recorded stays, or only the predicted ones; default: both.",
    },
}

NAMED = {"JobOfStay": JOB, "Stay": STAY, "PredictedStay": PREDICTED, "Schedule": SCHEDULE}
