"""A cloud whose hosts and tiers are in a real Placement, in this process, with sqlite in memory."""

import collections
import contextlib
import itertools
import time
from unittest import mock

import fixtures
import requests
from keystoneauth1 import adapter, session, token_endpoint
from nova import rpc
from nova.objects import service
from nova.scheduler.client import report
from placement.tests.functional.fixtures import placement as placement_fixtures

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims, names, tree
from nova_twotier.ledger.placement import Placement

from . import answers
from .cloud import CONF, JOB, PROJECT, USER, Cloud, Host
from .variants import Bench, Timing, in_turns, timed

#: Consumers that are written in one request.
_BATCH = 100


class Reports(report.SchedulerReportClient):
    """Nova's report client, which notes the time of each read in `reads`."""

    def __init__(self, *args, **kwargs):
        self.reads: list[tuple[str, Timing]] = []
        super().__init__(*args, **kwargs)

    def get(self, url, **kwargs):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = super().get(url, **kwargs)
        timing = Timing(time.perf_counter() - wall, time.process_time() - cpu)
        self.reads.append((url, timing))
        return answer


class PlacementService(fixtures.Fixture):
    """Placement, the ledger's client of it, and Nova's."""

    def _setUp(self):
        placement = self.useFixture(placement_fixtures.PlacementFixture())
        auth = token_endpoint.Token(placement.endpoint, "admin")
        made = session.Session(auth=auth, session=requests.Session())
        self.ledger = Placement(made)
        self.reports = Reports(
            adapter=adapter.Adapter(made, service_type="placement", raise_exc=False)
        )


class LedgerCloud(Cloud):
    """The same hosts and VMs, entered as nova-compute, `twotier-manage` and Nova's claims would."""

    def __init__(self, size: int, placement: PlacementService):
        super().__init__(size)
        self.placement = placement.reports
        self._ledger = placement.ledger
        for host in self.hosts:
            self._enter_host(host)
        tree.prepare(self._ledger)
        tree.sync_hosts(self._ledger, {host.name: tree.Shape(host.slots, 2) for host in self.hosts})
        self._enter_vms()

    def _enter_host(self, host: Host) -> None:
        url = f"/resource_providers/{host.root}"
        self._ledger.post("/resource_providers", {"uuid": host.root, "name": host.name})
        inventories = {
            "VCPU": {"total": host.vcpus // 2, "allocation_ratio": 2.0},
            "MEMORY_MB": {"total": host.memory_mb},
            "DISK_GB": {"total": host.disk_gb},
        }
        self._ledger.put(
            f"{url}/inventories",
            {"resource_provider_generation": 0, "inventories": inventories},
        )
        self._ledger.put(
            f"{url}/traits",
            {"resource_provider_generation": 1, "traits": list(answers.TRAITS)},
        )

    def _enter_vms(self) -> None:
        """All VMs of a tier of a host as one consumer: Placement adds up the same."""
        written = (
            (names.child_uuid(host.child(tier), tier), _claim(host, tier))
            for host in self.hosts
            for tier in Tier
            if host.points[tier]
        )
        while batch := dict(itertools.islice(written, _BATCH)):
            self._ledger.post("/allocations", batch)

    def admit(self, size: int, tier: Tier) -> dict[str, list[str]]:
        claims.admit(self._ledger, JOB, size, tier, PROJECT, USER)
        return {"twotier:job": [JOB]}

    def withdraw(self, vms: list[str]) -> None:
        """Take the claims of VMs away."""
        for vm in vms:
            self._ledger.delete(f"/allocations/{vm}")

    @contextlib.contextmanager
    def answering(self):
        """Besides Placement: no notifications, and no database that knows the computes' version."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(super().answering())
            stack.enter_context(mock.patch.object(rpc, "NOTIFIER"))
            stack.enter_context(
                mock.patch.object(
                    service, "get_minimum_version_all_cells", lambda *_args: service.SERVICE_VERSION
                )
            )
            # Two candidates a host.
            CONF.set_override("max_placement_results", 2 * len(self.hosts), "scheduler")
            stack.callback(CONF.clear_override, "max_placement_results", "scheduler")
            yield


def _claim(host: Host, tier: Tier) -> dict:
    points = host.points[tier]
    own = {
        "VCPU": len(points),
        "MEMORY_MB": len(points) * host.vm_memory_mb,
        "DISK_GB": len(points) * host.vm_disk_gb,
    }
    slots = {names.SLOT: len(points), names.CPU: sum(points)}
    return {
        "allocations": {
            host.root: {"resources": own},
            host.child(tier): {"resources": slots},
        },
        "project_id": PROJECT,
        "user_id": USER,
        "consumer_generation": None,
        "consumer_type": names.VM_CONSUMER,
    }


class LedgerBench(Bench):
    """`select_destinations` by variant; the reads are noted apart, under names of their own."""

    def __init__(self, *args):
        super().__init__(*args)
        self._reads = collections.defaultdict(list)

    def rounds(self, size, rounds):
        """All in this process, as the Placement that they claim from."""
        self._reads.clear()
        times = in_turns(list(self.variants), lambda name: self.run(name, size), rounds)
        return {**times, **self._reads}

    def run(self, name, size):
        variant = self.variants[name]
        spec, vms = self.cloud.request(size, self.tier if variant.ours else None)
        self.cloud.placement.reads.clear()
        with self.cloud.answering():
            timing = timed(
                lambda: self.schedulers[name].select_destinations(
                    self.cloud.context,
                    spec_obj=spec,
                    instance_uuids=vms,
                    return_objects=True,
                    return_alternates=False,
                )
            )
        self.cloud.withdraw(vms)
        (_url, nova), *others = self.cloud.placement.reads
        self._reads["Nova's read"].append(nova)
        # Nova's claims read the VMs' allocations.
        ours = [timing for url, timing in others if url.rpartition("/")[2] not in vms]
        if ours:
            self._reads["our reads"].append(
                Timing(sum(each.wall for each in ours), sum(each.cpu for each in ours))
            )
        return timing
