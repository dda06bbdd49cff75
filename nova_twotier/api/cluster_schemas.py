"""JSON schemas of the hosts, the network between them, and the pools that they form."""

from nova_twotier.api.schemas import COUNT, MODES, NAME, PAGE, PRINTABLE, list_of, object_of
from nova_twotier.api.versions import CONDITIONAL
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
            "type": ["number", "null"],
            "minimum": 0,
            "description": "Sum of the CPU utilisations of its processes; null for those who may "
            "not see the names of hosts.",
        },
    }
)
_REASON = {
    "type": "string",
    "maxLength": 200,
    "pattern": PRINTABLE,
    "description": "For operators; Nova shows it as the reason why the nova-compute is disabled.",
}
_MIGRATE = {
    "type": "boolean",
    "description": "Jobs there are live-migrated to idle slots of other hosts; else they run on "
    "until they end.",
}
_STARTS = {
    "type": "string",
    "format": "date-time",
    "description": "From then on nothing new is placed on the host.",
}
_ENDS = {"format": "date-time", "description": "From then on it takes new processes again."}
HOST_NAME = {**NAME, "minLength": 1, "description": "As the list of hosts has it."}
DRAIN = object_of(
    {
        "state": {
            "enum": ["planned", "draining", "drained"],
            "description": "`planned`: it begins later; `draining`: there are processes left; "
            "`drained`: none holds a slot there.",
        },
        "reason": _REASON,
        "starts_at": _STARTS,
        "ends_at": {**_ENDS, "type": ["string", "null"]},
        "migrate": _MIGRATE,
    }
)
DRAIN_REQUEST = object_of(
    {
        "host": HOST_NAME,
        "reason": {**_REASON, "description": f"{_REASON['description']} Default: empty."},
        "starts_at": {**_STARTS, "description": f"{_STARTS['description']} Default: now."},
        "ends_at": {
            **_ENDS,
            "type": ["string", "null"],
            "description": f"{_ENDS['description']} null, the default: when an operator ends the "
            "drain.",
        },
        "migrate": {**_MIGRATE, "description": f"{_MIGRATE['description']} Default: false."},
    },
    required=("host",),
    description="If the host has a drain, begun or planned, what is not given keeps its value; "
    "the defaults are those of a new one.",
    examples=[{"host": "node17", "reason": "new BIOS", "migrate": True}],
)
UNDRAIN_REQUEST = object_of({"host": HOST_NAME}, examples=[{"host": "node17"}])
UNDRAINED = object_of({"name": {"type": "string"}, "drain": {"type": "null"}})
HOST = object_of(
    {
        "name": {
            "type": "string",
            "description": "For those who may not see names, an id that is the same in all "
            "answers to their project.",
        },
        "slots": COUNT,
        "tiers": {"type": "integer", "minimum": 1},
        "closed": {
            "type": "integer",
            "minimum": 0,
            "description": "Slots whose foreground leaves no room for a background process.",
        },
        "foreground": {"$ref": "#TierOfHost"},
        "background": {"$ref": "#TierOfHost"},
        "drain": {
            "anyOf": [{"$ref": "#Drain"}, {"type": "null"}],
            "description": "null: it is not drained, and none is planned.",
        },
    }
)
HOSTS = list_of("hosts", {"$ref": "#Host"})
HOSTS_QUERY = {
    **PAGE,
    "limit": {
        **PAGE["limit"],
        "description": f"{PAGE['limit']['description']} Before microversion {CONDITIONAL}, all "
        "hosts are in one answer without it.",
    },
    "marker": {**NAME, "minLength": 1, "description": "Name of the last host of the page before."},
}

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
    "Drain": DRAIN,
    "DrainRequest": DRAIN_REQUEST,
    "Host": HOST,
    "Switch": SWITCH,
    "HostInNetwork": HOST_IN_NETWORK,
    "PlacesOfPool": object_of(_PLACES),
    "Pool": POOL,
}
