"""What Placement answers about a cloud: prepared bodies, of the size and shape of the real ones."""

import json
import urllib.parse
from collections.abc import Mapping

import os_traits
import requests

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names, reading, tree

#: What nova-compute puts on the provider of a libvirt host: as many traits as such a host has.
TRAITS = (
    "OWNER_NOVA",
    *[trait for trait in os_traits.get_traits() if trait.startswith("COMPUTE_")][:40],
    *[trait for trait in os_traits.get_traits() if trait.startswith("HW_CPU_X86_")][:24],
)

#: Of the one pool.
_POOL = names.pool_trait(names.jobs_uuid())


def job_entry(size: int, tier: Tier) -> dict:
    """`GET /allocations/{job}` of an admitted job."""
    return {
        "allocations": {
            names.jobs_uuid(): {"generation": size, "resources": {names.JOB_SIZE[tier]: size}}
        },
        "project_id": "project",
        "user_id": "user",
        "consumer_generation": 1,
        "consumer_type": names.JOB_CONSUMER,
    }


def candidates(hosts, query: str) -> dict:
    """`GET /allocation_candidates` for a slot, wherever there is one or by traits of `query`."""
    required = {
        trait
        for key, value in urllib.parse.parse_qsl(query)
        if key.startswith("required")
        for trait in value.split(",")
    }
    tiers = [tier for tier in Tier if required <= {names.TRAIT[tier], _POOL}]
    found = [(host, [tier for tier in tiers if host.free(tier)]) for host in hosts]
    return {
        "allocation_requests": [
            {
                "allocations": {host.child(tier): {"resources": {names.SLOT: 1}}},
                "mappings": {"": [host.child(tier)]},
            }
            for host, free in found
            for tier in free
        ],
        "provider_summaries": {
            provider: summary
            for host, free in found
            if free
            for provider, summary in summaries(host).items()
        },
    }


def summaries(host) -> dict:
    """A host's providers, by uuid."""
    root = {"parent_provider_uuid": None, "root_provider_uuid": host.root}
    child = {"parent_provider_uuid": host.root, "root_provider_uuid": host.root}
    vms = sum(len(points) for points in host.points.values())
    return {
        host.root: {
            "resources": {
                "VCPU": {"capacity": host.vcpus, "used": vms},
                "MEMORY_MB": {"capacity": host.memory_mb, "used": vms * host.vm_memory_mb},
                "DISK_GB": {"capacity": host.disk_gb, "used": vms * host.vm_disk_gb},
            },
            "traits": list(TRAITS),
            **root,
        },
        **{
            host.child(tier): {
                "resources": {
                    names.SLOT: {"capacity": host.slots, "used": len(points)},
                    names.CPU: {"capacity": 100 * host.slots, "used": sum(points)},
                },
                "traits": [names.TRAIT[tier], names.size_trait(host.slots), _POOL],
                **child,
            }
            for tier, points in host.points.items()
        },
    }


def network(left: Mapping[str, int], rate: int, largest: int) -> dict:
    """`GET /allocation_candidates` for bandwidth: the links, and the largest that jobs asked for.

    :param left: Mbit/s by link, of links of one rate.
    """
    sizes = {names.JOB_SIZE[tier]: {"capacity": tree.UNLIMITED, "used": 0} for tier in Tier}
    published = {names.MBPS: {"capacity": largest, "used": 0}}
    jobs = [names.JOBS_TRAIT, names.size_trait(tree.UNLIMITED)]
    amounts = {
        names.link_uuid(link): (
            {names.MBPS: {"capacity": rate, "used": rate - mbps}},
            [names.LINK_TRAIT, names.size_trait(rate)],
        )
        for link, mbps in left.items()
    }
    return {
        "allocation_requests": [
            {
                "allocations": {provider: {"resources": {names.MBPS: 1}}},
                "mappings": {"": [provider]},
            }
            for provider in (*amounts, names.jobs_uuid())
        ],
        "provider_summaries": {
            provider: {
                "resources": resources,
                "traits": traits,
                "parent_provider_uuid": None,
                "root_provider_uuid": provider,
            }
            for provider, (resources, traits) in (
                *amounts.items(),
                (names.jobs_uuid(), ({**sizes, **published}, jobs)),
            )
        },
    }


def nova_candidates(hosts, tiers) -> list[dict]:
    """The allocation requests of Nova's own read, for a VM with or without a slot.

    :param tiers: a candidate a host for each of them; one without a slot if there are none.
    """
    found = []
    for host in hosts:
        own = {
            host.root: {
                "resources": {"VCPU": 1, "MEMORY_MB": host.vm_memory_mb, "DISK_GB": host.vm_disk_gb}
            }
        }
        if not tiers:
            found.append({"allocations": own, "mappings": {"": [host.root]}})
        for tier in tiers:
            child = host.child(tier)
            found.append(
                {
                    "allocations": {**own, child: {"resources": {names.SLOT: 1}}},
                    "mappings": {"": [host.root, child]},
                }
            )
    return found


class ReportClient:
    """In the place of Nova's report client: prepared bodies instead of HTTP, and claims succeed.

    The decoding is real: `get` returns a `requests.Response`.
    """

    def __init__(self, hosts):
        self._hosts = hosts
        self._bodies = {}
        self.entry = job_entry(1, Tier.FG)

    def prepare_network(self, body: dict) -> None:
        self._bodies[reading.NETWORK_URL] = json.dumps(body).encode()

    def get(self, url, version=None, global_request_id=None):
        """:raises ValueError: if there is no prepared body for what the plugin reads."""
        parts = urllib.parse.urlsplit(url)
        if parts.path.startswith("/allocations/"):
            return _response(json.dumps(self.entry).encode())
        if parts.path != "/allocation_candidates":
            raise ValueError(f"no answer is prepared for GET {url}: add it to {__name__}")
        if url not in self._bodies:
            self._bodies[url] = json.dumps(candidates(self._hosts, parts.query)).encode()
        return _response(self._bodies[url])

    def claim_resources(self, *_args, **_kwargs):
        return True


def _response(body: bytes) -> requests.Response:
    response = requests.Response()
    response.status_code = 200
    response.encoding = "utf-8"
    response._content = body
    return response
