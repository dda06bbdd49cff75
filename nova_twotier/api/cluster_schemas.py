"""JSON schemas of the hosts, the network between them, and the pools that they form."""

from nova_twotier.api.schemas import COUNT, MODES, NAME, object_of
from nova_twotier.core import policies

TIER = object_of(
    {
        "places": {
            "type": "integer",
            "minimum": 0,
            "description": "Places that may be in use, without those of closed slots.",
        },
        "used": COUNT,
        "cpu": {
            "type": "number",
            "minimum": 0,
            "description": "Sum of the CPU utilisations of its processes.",
        },
    }
)
HOST = object_of(
    {
        "name": {"type": "string"},
        "slots": COUNT,
        "tiers": {"type": "integer", "minimum": 1},
        "closed": {
            "type": "integer",
            "minimum": 0,
            "description": "Slots whose foreground leaves no room for a background process.",
        },
        "foreground": {"$ref": "#TierOfHost"},
        "background": {"$ref": "#TierOfHost"},
    }
)
HOSTS = object_of({"hosts": {"type": "array", "items": {"$ref": "#Host"}}})

_LINK = {
    "rate": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "Mbit/s of the link up; null: there is none, or it is not counted.",
    },
    "used": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "Mbit/s of it that jobs have reserved; more than the rate where that was "
        "lowered since.",
    },
}
SWITCH = object_of(
    {
        "path": {"type": "string", "description": "From the root, such as core/pod1/edge3."},
        **_LINK,
    }
)
HOST_IN_NETWORK = object_of(
    {
        "name": {"type": "string"},
        "pool": {"type": "string"},
        "switch": {
            "type": ["string", "null"],
            "description": "Path of the switch that it is linked to; null: its aggregates name "
            "none, and there are several roots.",
        },
        **_LINK,
        "foreground": {"$ref": "#TierOfHost"},
        "background": {"$ref": "#TierOfHost"},
    }
)
TOPOLOGY = object_of(
    {
        "switches": {
            "type": "array",
            "items": {"$ref": "#Switch"},
            "description": "Each after the one above it.",
        },
        "hosts": {"type": "array", "items": {"$ref": "#HostInNetwork"}},
    }
)

_PLACES = {
    "places": {
        "type": "integer",
        "minimum": 0,
        "description": "Of all hosts, free or not, with those of closed slots.",
    },
    "free": {
        "type": "integer",
        "minimum": 0,
        "description": "Places that a process can take now: on available hosts, and in the "
        "background only beside foreground processes that leave room.",
    },
}
_COUNTS = object_of({"waiting": COUNT, "running": COUNT})
POOL = object_of(
    {
        "name": {"type": "string"},
        "mode": {"enum": MODES},
        "policy": {"$ref": "#QueuePolicy"},
        "hosts": object_of(
            {
                "total": COUNT,
                "available": {**COUNT, "description": "Those that take new processes."},
            }
        ),
        "slots": {**COUNT, "description": "Of all hosts; a process of a job takes one."},
        "foreground": {"$ref": "#PlacesOfPool"},
        "background": {"$ref": "#PlacesOfPool"},
        "jobs": {**_COUNTS, "description": "Of all projects; those that start or end are running."},
        "processes": {**_COUNTS, "description": "The same, in processes of these jobs."},
    },
    description="The hosts of a pool, as sums, and its queue. The sums over hosts may be a few "
    "seconds old.",
    examples=[
        {
            "name": "default",
            "mode": "active",
            "policy": {
                "name": "amcbf",
                "description": policies.POLICIES["amcbf"].summary,
                "configured": "amcbf",
                "set_to": None,
            },
            "hosts": {"total": 20, "available": 19},
            "slots": 160,
            "foreground": {"places": 160, "free": 12},
            "background": {"places": 160, "free": 31},
            "jobs": {"waiting": 4, "running": 23},
            "processes": {"waiting": 96, "running": 257},
        }
    ],
)
POOLS = object_of({"pools": {"type": "array", "items": {"$ref": "#Pool"}}})

TOPOLOGY_QUERY = {
    "pool": {**NAME, "description": "Only the hosts of this pool, and the switches above them."}
}

NAMED = {
    "TierOfHost": TIER,
    "Host": HOST,
    "Switch": SWITCH,
    "HostInNetwork": HOST_IN_NETWORK,
    "PlacesOfPool": object_of(_PLACES),
    "Pool": POOL,
}
