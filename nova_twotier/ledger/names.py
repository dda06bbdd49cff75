"""Names and uuids that the ledger uses in Placement."""

import functools
import uuid

from nova_twotier.core.actions import Tier

#: Consumer types (1.38) and `in:`-free reading of nested candidates (1.29) need at least this.
MICROVERSION = "1.38"

SLOT = "CUSTOM_TWOTIER_SLOT"
#: CPU utilisation of a process in percent points of one slot.
CPU = "CUSTOM_TWOTIER_CPU"
#: Bandwidth of a link, Mbit/s.
MBPS = "CUSTOM_TWOTIER_MBPS"
JOB_SIZE = {Tier.FG: "CUSTOM_TWOTIER_JOB_FG", Tier.BG: "CUSTOM_TWOTIER_JOB_BG"}
RESOURCE_CLASSES = (SLOT, CPU, MBPS, *JOB_SIZE.values())

#: Trait of the provider of each tier.
TRAIT = {Tier.FG: "CUSTOM_TWOTIER_FG", Tier.BG: "CUSTOM_TWOTIER_BG"}
LINK_TRAIT = "CUSTOM_TWOTIER_LINK"
JOBS_TRAIT = "CUSTOM_TWOTIER_JOBS"
#: A provider whose host left, or gave the tier up, while VMs held places: it takes no new ones.
RETIRED_TRAIT = "CUSTOM_TWOTIER_RETIRED"
TRAITS = (*TRAIT.values(), LINK_TRAIT, JOBS_TRAIT, RETIRED_TRAIT)
#: A provider of a host's foreground has it by turns while a node agent measures the host.
HEARTBEAT_TRAIT = "CUSTOM_TWOTIER_HEARTBEAT"

JOB_CONSUMER = "TWOTIER_JOB"
#: Placement requires a project and a user for each consumer; job entries count against no quota.
JOB_OWNER = {"project": "twotier", "user": "twotier"}
VM_CONSUMER = "INSTANCE"
JOBS_PROVIDER = "twotier-jobs"
#: The pool of hosts and jobs that name none.
DEFAULT_POOL = "default"

#: Our providers' uuids are derived from the host's, so that making one twice changes nothing.
_NAMESPACE = uuid.UUID("5c1b24c8-6a55-4c1e-9b43-5b8f3d0f8a52")
_SIZE = "CUSTOM_TWOTIER_SIZE_"
_POOL = "CUSTOM_TWOTIER_POOL_"
_LINK = "twotier-link:"
#: Characters of a host's name at most: Placement allows 200 for those derived from it.
LONGEST_HOST = 200 - len(_LINK)


def child_name(host: str, tier: Tier) -> str:
    return f"{host}_twotier_{tier}"


# Whoever reads all hosts asks for that of each provider, every few seconds.
@functools.lru_cache(2**16)
def child_uuid(host_uuid: str, tier: Tier) -> str:
    return str(uuid.uuid5(_NAMESPACE, f"{host_uuid}/{tier}"))


def jobs_name(pool: str = DEFAULT_POOL) -> str:
    """Name of the provider that holds the entries of a pool's jobs."""
    return JOBS_PROVIDER if pool == DEFAULT_POOL else f"{JOBS_PROVIDER}:{pool}"


def jobs_uuid(pool: str = DEFAULT_POOL) -> str:
    return str(uuid.uuid5(_NAMESPACE, jobs_name(pool)))


def pool_of(provider_name: str) -> str:
    """The pool of a provider of job entries."""
    return provider_name.removeprefix(JOBS_PROVIDER).removeprefix(":") or DEFAULT_POOL


def pool_trait(jobs_provider: str) -> str:
    """Trait of the tiers of a pool's hosts, derived from the provider of the pool's job entries.

    So a job's entry alone shows which hosts the job may use.
    """
    return f"{_POOL}{jobs_provider.replace('-', '').upper()}"


def is_pool(trait: str) -> bool:
    return trait.startswith(_POOL)


def link_name(link: str) -> str:
    """Name of a link's provider; links are named as in `shape.way_up`."""
    return f"{_LINK}{link}"


def link_uuid(link: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, link_name(link)))


def link_of(provider_name: str) -> str | None:
    """The link that a provider represents, or None."""
    return provider_name.removeprefix(_LINK) if provider_name.startswith(_LINK) else None


def size_trait(size: int) -> str:
    """Trait of a provider whose inventory was written for this many places, or Mbit/s."""
    return f"{_SIZE}{size}"


def is_size(trait: str) -> bool:
    return trait.startswith(_SIZE)
