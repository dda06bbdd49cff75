"""JSON schemas of the hosts, and of the network between them."""

from nova_twotier.api.schemas import COUNT, NAME, object_of

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

TOPOLOGY_QUERY = {
    "pool": {**NAME, "description": "Only the hosts of this pool, and the switches above them."}
}

NAMED = {"TierOfHost": TIER, "Host": HOST, "Switch": SWITCH, "HostInNetwork": HOST_IN_NETWORK}
