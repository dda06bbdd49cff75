"""Validators of our flavor extra specs: Nova's API refuses wrong ones (2.86 and later).

Once they are registered, Nova also refuses other names that begin with `twotier:`.
"""

from nova.api.validation.extra_specs import base

from nova_twotier.core.actions import Tier
from nova_twotier.core.flavors import (
    DELETE,
    JOBS_ONLY,
    MBPS,
    MBPS_FORM,
    PREEMPTIBLE,
    SHELVE,
    TIER,
    TIER_CHOICES,
    TIERS,
)

_VALIDATORS = [
    base.ExtraSpecValidator(
        name=TIER,
        description=(
            "Tier of the VMs, unless a job of the queue manager or a hint says otherwise: "
            "fg (foreground; default, unless twotier:tiers is bg) or bg (background)."
        ),
        value={"type": str, "enum": [str(tier) for tier in Tier]},
    ),
    base.ExtraSpecValidator(
        name=TIERS,
        description=(
            "Tiers that the scheduler hint twotier:tier may choose from; the flavor's own tier has "
            "to be among them. Default: no choice, only the flavor's own."
        ),
        value={"type": str, "enum": list(TIER_CHOICES)},
    ),
    base.ExtraSpecValidator(
        name=JOBS_ONLY,
        description=(
            "Whether the flavor is for jobs of the queue manager only, so that the scheduler "
            "refuses servers that tenants boot with it themselves. Default: false."
        ),
        value={"type": bool},
    ),
    base.ExtraSpecValidator(
        name=PREEMPTIBLE,
        description=(
            "What the queue manager does with a server in the background that is no job's when a "
            "job needs its slot, if its option [manager]preempt_servers is set: shelve or delete "
            "it. Default: it stays."
        ),
        value={"type": str, "enum": [SHELVE, DELETE]},
    ),
    base.ExtraSpecValidator(
        name=MBPS,
        description=(
            "Bandwidth of a VM in Mbit/s, such as 250 or 12.5, unless the scheduler hint "
            "twotier:mbps says otherwise. For the AdaBaWeigher and, if a request asks for several "
            "VMs, the VirtualClusterFilter. Default: 0."
        ),
        value={"type": str, "description": "A number of Mbit/s.", "pattern": MBPS_FORM},
    ),
]


def register():
    """Called by Nova's API when it starts."""
    return _VALIDATORS
