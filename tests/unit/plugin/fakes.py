"""Hosts, requests and a Placement as the scheduler would hand them to the plugin."""

from types import SimpleNamespace
from unittest import mock

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names
from nova_twotier.ledger.names import CPU, SLOT, TRAIT

FG, BG = Tier.FG, Tier.BG
JOB = "5a5b1f3e-0e50-4f5c-8f2a-4b1d0e6a9c01"


def host(name, candidates=(FG, BG)):
    """A HostState, as far as the plugin looks at it."""
    return SimpleNamespace(
        host=name,
        nodename=name,
        uuid=f"uuid-{name}",
        num_instances=0,
        aggregates=[],
        allocation_candidates=[
            {"allocations": {f"uuid-{name}": {}, f"{name}-{tier}": {}}} for tier in candidates
        ],
    )


def request(tier=None, job=None, ours=True, rebuild=False):
    """A RequestSpec of a VM."""
    hints = {"twotier:job": [job]} if job else {}
    if rebuild:
        hints["_nova_check_type"] = ["rebuild"]
    extra_specs = {f"resources:{SLOT}": "1"} if ours else {}
    if tier:
        extra_specs["twotier:tier"] = tier
    spec = mock.MagicMock(
        scheduler_hints=hints,
        flavor=SimpleNamespace(name="flavor", extra_specs=extra_specs),
        instance_uuid="vm",
    )
    spec.__contains__.side_effect = lambda field: field == "scheduler_hints"
    return spec


def summaries(name, fg, bg, slots=2, tiers=2, closed=0):
    """Provider summaries of a host; `fg` and `bg` are the CPU points of the VMs there."""
    places = {FG: slots, BG: (slots - closed) * (tiers - 1)}
    cpu = {FG: 100 * slots, BG: 100 * slots * (tiers - 1)}
    root = f"uuid-{name}"
    found = {
        root: {"traits": [], "resources": {}, "root_provider_uuid": root},
    }
    for tier, points in ((FG, fg), (BG, bg)):
        found[f"{name}-{tier}"] = {
            "traits": [TRAIT[tier]],
            "root_provider_uuid": root,
            "resources": {
                SLOT: {"capacity": places[tier], "used": len(points)},
                CPU: {"capacity": cpu[tier], "used": sum(points)},
            },
        }
    return found


class FakePlacement:
    """Answers what the plugin reads, and remembers which URLs it read."""

    def __init__(self, *hosts, jobs=None, status=200):
        self.summaries = {key: value for each in hosts for key, value in each.items()}
        self.jobs = jobs or {}
        self.status = status
        self.reads = []

    def get(self, url, version=None):
        self.reads.append(url)
        if url.startswith("/allocations/"):
            body = self.entry(url.rpartition("/")[2])
        else:
            body = {"provider_summaries": self.summaries}
        answer = mock.MagicMock(status_code=self.status, text="")
        answer.__bool__.return_value = self.status < 400
        answer.json.return_value = body
        return answer

    def entry(self, job):
        if job not in self.jobs:
            return {"allocations": {}}
        resources = {names.JOB_SIZE[self.jobs[job]]: 2}
        return {"allocations": {names.jobs_uuid(): {"resources": resources}}}

    def patch(self, case):
        """Stand in for Nova's report client until the end of a test."""
        patcher = mock.patch("nova.scheduler.client.report.report_client_singleton")
        patcher.start().return_value = self
        case.addCleanup(patcher.stop)
        return self
