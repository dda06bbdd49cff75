"""Hosts, requests and a Placement as the scheduler would hand them to the plugin."""

import json
import uuid
from types import SimpleNamespace
from unittest import mock

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names
from nova_twotier.ledger.names import CPU, SLOT, TRAIT

FG, BG = Tier.FG, Tier.BG
JOB = "5a5b1f3e-0e50-4f5c-8f2a-4b1d0e6a9c01"
REQUEST = "0b9d7c52-6c19-4a3f-b9a5-6f7a3fd7e6a4"
#: The project of a job, and the id of the request that boots it.
PROJECT = "demo"
BOOT = "req-3f1c5d8e-9a57-4c1b-8a1e-6d2b7c0f4e11"


def root(name):
    """Uuid of a host's provider."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


def child(name, tier):
    return names.child_uuid(root(name), tier)


def host(name, candidates=(FG, BG), **metadata):
    """A HostState, as far as the plugin looks at it; `metadata` is that of its aggregate."""
    return SimpleNamespace(
        host=name,
        nodename=name,
        uuid=root(name),
        num_instances=0,
        instances={},
        aggregates=[SimpleNamespace(metadata=metadata)],
        allocation_candidates=[
            {"allocations": {root(name): {}, child(name, tier): {}}} for tier in candidates
        ],
    )


def request(
    tier=None,
    job=None,
    ours=True,
    rebuild=None,
    hints=None,
    admin=True,
    request_id=None,
    project=PROJECT,
    destination=None,
    size=1,
    **extra_specs,
):
    """A RequestSpec of a VM; `extra_specs` are those that begin with `twotier:`.

    :param rebuild: the host on which Nova asks whether the VM may be rebuilt.
    :param admin: whether an administrator sent it, `request_id` the id that it was sent with.
    :param destination: the host that it names.
    :param size: number of VMs that were booted together.
    """
    hints = {f"twotier:{name}": [value] for name, value in (hints or {}).items()}
    if job:
        hints["twotier:job"] = [job]
    if rebuild:
        hints["_nova_check_type"] = ["rebuild"]
    extra_specs = {f"twotier:{name}": value for name, value in extra_specs.items()}
    if ours:
        extra_specs[f"resources:{SLOT}"] = "1"
    if tier is not None:
        extra_specs["twotier:tier"] = tier
    spec = mock.MagicMock(
        scheduler_hints=hints,
        flavor=SimpleNamespace(name="flavor", extra_specs=extra_specs),
        force_hosts=[rebuild] if rebuild else None,
        force_nodes=[rebuild] if rebuild else None,
        instance_uuid=REQUEST,
        num_instances=size,
        instance_group=None,
        project_id=project,
        requested_destination=destination and Destination(destination),
        _context=SimpleNamespace(is_admin=admin, global_request_id=request_id),
    )
    spec.__contains__.side_effect = lambda field: field == "scheduler_hints"
    return spec


def summaries(name, fg, bg, slots=2, tiers=2, closed=0):
    """Provider summaries of a host; `fg` and `bg` are the CPU points of the VMs there."""
    places = {FG: slots, BG: (slots - closed) * (tiers - 1)}
    cpu = {FG: 100 * slots, BG: 100 * slots * (tiers - 1)}
    top = {"parent_provider_uuid": None, "root_provider_uuid": root(name)}
    below = {"parent_provider_uuid": root(name), "root_provider_uuid": root(name)}
    found = {root(name): {"resources": {}, "traits": [], **top}}
    for tier, points in ((FG, fg), (BG, bg)):
        found[child(name, tier)] = {
            "resources": {
                SLOT: {"capacity": places[tier], "used": len(points)},
                CPU: {"capacity": cpu[tier], "used": sum(points)},
            },
            "traits": [TRAIT[tier]],
            **below,
        }
    return found


class Destination(SimpleNamespace):
    """Nova's, of a request that names its host."""

    def __init__(self, host):
        super().__init__(host=host)

    def __contains__(self, field):
        return field == "host"


class FakePlacement:
    """Answers what the plugin reads, and remembers which URLs it read.

    :param size: of each job.
    :param links: Mbit/s that each job holds, by link.
    :param left: Mbit/s that links have left.
    :param largest: the largest bandwidth that is published, by pool; 0: none is.
    """

    def __init__(
        self,
        *hosts,
        jobs=None,
        pool=names.DEFAULT_POOL,
        status=200,
        size=2,
        links=None,
        left=None,
        largest=None,
    ):
        self.summaries = {key: value for each in hosts for key, value in each.items()}
        self.jobs = jobs or {}
        self.pool = pool
        self.size, self.links = size, links or {}
        self.left, self.largest = left or {}, largest or {}
        self.status = status
        self.reads = []

    def get(self, url, version=None):
        self.reads.append(url)
        if url.startswith("/allocations/"):
            body = self.entry(url.rpartition("/")[2])
        elif names.MBPS in url:
            body = {"allocation_requests": [], "provider_summaries": self.network(url)}
        else:
            body = {"allocation_requests": [], "provider_summaries": self.summaries}
        return self.answer(json.dumps(body).encode())

    def answer(self, content):
        answer = mock.MagicMock(status_code=self.status, text="why", content=content)
        answer.__bool__.return_value = self.status < 400
        return answer

    def entry(self, job):
        if job not in self.jobs:
            return {"allocations": {}}
        resources = {names.JOB_SIZE[self.jobs[job]]: self.size}
        allocations = {names.jobs_uuid(self.pool): {"resources": resources}}
        for link, mbps in self.links.items():
            allocations[names.link_uuid(link)] = {"resources": {names.MBPS: mbps}}
        return {"allocations": allocations, "project_id": PROJECT, "user_id": BOOT}

    def network(self, url):
        """Summaries of the providers with the trait that a URL requires, if it requires one."""
        amounts = {
            **{names.link_uuid(link): (names.LINK_TRAIT, mbps) for link, mbps in self.left.items()},
            **{
                names.jobs_uuid(pool): (names.JOBS_TRAIT, mbps)
                for pool, mbps in self.largest.items()
            },
        }
        return {
            provider: {
                "resources": {names.MBPS: {"capacity": mbps, "used": 0}},
                "traits": [trait],
                "parent_provider_uuid": None,
                "root_provider_uuid": provider,
            }
            for provider, (trait, mbps) in amounts.items()
            if mbps and url.partition("required=")[2] in ("", trait)
        }

    def patch(self, case):
        """Stand in for Nova's report client until the end of a test."""
        patcher = mock.patch("nova.scheduler.client.report.report_client_singleton")
        patcher.start().return_value = self
        case.addCleanup(patcher.stop)
        return self
