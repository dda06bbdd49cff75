"""JSON Schemas of what the recorded schedule adds to a job, see `servers`."""

from nova_twotier.api.schemas import UUID, object_of

_TIME = {"type": "string", "format": "date-time"}
_SERVER = object_of(
    {
        "name": {"type": "string"},
        "uuid": UUID,
        "tier": {"enum": ["fg", "bg"], "description": "Of the slot."},
        "host": {
            "type": "string",
            "description": "Of the slot; only there if the policy rule `twotier:jobs:show:hosts` "
            "lets the reader see it.",
        },
        "since": {**_TIME, "description": "When it took the slot."},
        "until": {
            **_TIME,
            "type": ["string", "null"],
            "description": "When it left the slot; null: it still has it.",
        },
    },
    required=("name", "uuid", "tier", "since", "until"),
    description="The server of a process, and the slot that it has or had last.",
    examples=[
        {
            "name": "tt-12-1",
            "uuid": "4b1d6f6e-6a3c-4a53-9d0e-0f1c6c2f5a11",
            "tier": "fg",
            "host": "compute-3",
            "since": "2026-01-31T12:00:00.000+00:00",
            "until": None,
        }
    ],
)


def _seconds(tier: str) -> dict:
    return {
        "type": "number",
        "minimum": 0,
        "description": f"Seconds that it held {tier} slots, in all its runs, also in those before "
        "it began anew: the mean over its processes, so `size` times it is slot time.",
        "examples": [3600.0],
    }


FIELDS = {
    "foreground_elapsed": _seconds("foreground"),
    "background_elapsed": _seconds("background"),
    "servers": {
        "type": "array",
        "items": _SERVER,
        "description": "The servers of its last run, in the order of its processes; empty before "
        "the first. Nova knows their addresses.",
    },
}
