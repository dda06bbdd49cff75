"""JSON Schemas of the utilisation of pools over time."""

from nova_twotier.api.schemas import COUNT, NAME, object_of
from nova_twotier.db.utilisation import DAY, MINUTE

_TIME = {"type": "string", "format": "date-time"}
_MEAN = {"type": "number", "minimum": 0}
_MOST = {**COUNT, "description": "The largest number; of several pools, the sum of theirs."}
OF_TIER = object_of(
    {
        "slots": {**_MEAN, "description": "Places of all hosts, with those of closed slots."},
        "open": {
            **_MEAN,
            "description": "Those of them that VMs held or could have claimed: without the others "
            "on closed slots, and on hosts that take nothing new.",
        },
        "used": {**_MEAN, "description": "Those that VMs held, of jobs or not."},
        "most_used": _MOST,
    }
)
OF_QUEUE = object_of(
    {
        "waiting": _MEAN,
        "most_waiting": _MOST,
        "running": {**_MEAN, "description": "Also those that start or end."},
    }
)
INTERVAL = object_of(
    {
        "at": {**_TIME, "description": "Its begin."},
        "seconds": {
            **COUNT,
            "description": "For how much of it a queue manager counted; of several pools, the "
            "least.",
        },
        "foreground": {"$ref": "#UtilisationOfTier"},
        "background": {"$ref": "#UtilisationOfTier"},
        "jobs": {"$ref": "#UtilisationOfQueue"},
        "processes": {"$ref": "#UtilisationOfQueue"},
        "lost": {
            "type": "number",
            "minimum": 0,
            "description": "Slot-seconds in either tier whose work was discarded then: they count "
            "when that happens, not when they were used.",
        },
    },
    description="Means over the samples that queue managers took in an interval, one a minute, of "
    "the jobs of all projects.",
)


def _example(at: str, seconds: int, used: float) -> dict:
    return {
        "at": at,
        "seconds": seconds,
        "foreground": {"slots": 160.0, "open": 152.0, "used": used, "most_used": 152},
        "background": {"slots": 160.0, "open": 96.0, "used": 61.5, "most_used": 64},
        "jobs": {"waiting": 4.2, "most_waiting": 7, "running": 23.0},
        "processes": {"waiting": 96.4, "most_waiting": 150, "running": 210.5},
        "lost": 1800.0,
    }


UTILISATION = object_of(
    {
        "from": {**_TIME, "description": "The begin of the first interval."},
        "to": {**_TIME, "description": "The end of the last one, which may be under way."},
        "interval": {
            "type": "integer",
            "minimum": MINUTE,
            "description": "Seconds of each interval.",
        },
        "pools": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Those that the sums are about: the others of the site had no manager "
            "in the window.",
        },
        "latest": {
            "anyOf": [{"$ref": "#Utilisation"}, {"type": "null"}],
            "description": "The last minute of the window; null: one of the pools had no manager "
            "in the last five.",
        },
        "summary": {
            "anyOf": [{"$ref": "#Utilisation"}, {"type": "null"}],
            "description": "The means, largest numbers and lost work of all intervals; null: "
            "there are none.",
        },
        "utilisation": {
            "type": "array",
            "items": {"$ref": "#Utilisation"},
            "description": "By time. An interval is missing if one of the pools had no manager: "
            "nobody knows what it was like then.",
        },
    },
    examples=[
        {
            "from": "2026-11-25T00:00:00.000+00:00",
            "to": "2026-11-26T00:00:00.000+00:00",
            "interval": 300,
            "pools": ["default"],
            "latest": _example("2026-11-25T23:59:00.000+00:00", 60, 151.0),
            "summary": _example("2026-11-25T00:00:00.000+00:00", 300, 140.2),
            "utilisation": [_example("2026-11-25T00:00:00.000+00:00", 300, 140.2)],
        }
    ],
)

UTILISATION_QUERY = {
    "from": {**_TIME, "description": "The begin of the window; default: as `last` says."},
    "to": {**_TIME, "description": "Its end; default: now, which is also the latest."},
    "last": {
        "type": "integer",
        "minimum": MINUTE,
        "maximum": 10 * 366 * DAY,
        "description": f"The window begins so many seconds before its end; default: {DAY}.",
    },
    "points": {
        "type": "integer",
        "minimum": 2,
        "maximum": 2000,
        "description": "The most intervals to answer; they are as short as that allows, and as "
        "such old ones are kept. Default: 400.",
    },
    "pool": {**NAME, "description": "Only this pool; default: the sum of all."},
}

NAMED = {
    "UtilisationOfTier": OF_TIER,
    "UtilisationOfQueue": OF_QUEUE,
    "Utilisation": INTERVAL,
    "Utilisations": UTILISATION,
}
