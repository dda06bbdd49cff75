"""The names that the ledger uses in Placement."""

import uuid

from nova_twotier.core.actions import Tier

#: Consumer types (1.38) and `in:`-free reading of nested candidates (1.29) need at least this.
MICROVERSION = "1.38"

SLOT = "CUSTOM_TWOTIER_SLOT"
#: CPU utilisation of a process in percent points of one slot.
CPU = "CUSTOM_TWOTIER_CPU"
JOB_SIZE = {Tier.FG: "CUSTOM_TWOTIER_JOB_FG", Tier.BG: "CUSTOM_TWOTIER_JOB_BG"}
TRAIT = {Tier.FG: "CUSTOM_TWOTIER_FG", Tier.BG: "CUSTOM_TWOTIER_BG"}
JOB_CONSUMER = "TWOTIER_JOB"
VM_CONSUMER = "INSTANCE"
JOBS_PROVIDER = "twotier-jobs"

#: Our providers have uuids that follow from the host's, so that making one twice changes nothing.
_NAMESPACE = uuid.UUID("5c1b24c8-6a55-4c1e-9b43-5b8f3d0f8a52")


def child_name(host: str, tier: Tier) -> str:
    return f"{host}_twotier_{tier}"


def child_uuid(host_uuid: str, tier: Tier) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{host_uuid}/{tier}"))


def jobs_uuid() -> str:
    return str(uuid.uuid5(_NAMESPACE, JOBS_PROVIDER))
