"""A small cloud in one process: Nova with our plugin, Placement with our ledger, fake driver."""

import contextlib
import pathlib
import sys
import time
import uuid
from unittest import mock

import fixtures
import sqlalchemy
from keystoneauth1 import session, token_endpoint
from nova import objects
from nova.scheduler.client import report
from nova.tests.functional import integrated_helpers
from sqlalchemy import event

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims, names, tree
from nova_twotier.ledger.placement import Placement
from tests.nova_threads import SILENT_SERVICES

FG, BG = Tier.FG, Tier.BG
API_PASTE = pathlib.Path(sys.prefix, "etc/nova/api-paste.ini")
PROJECT = "6f70656e737461636b20342065766572"
USER = "fake"
TIMEOUT = 120


class QuietWarnings(fixtures.Fixture):
    """Replaces Nova's WarningsFixture, which turns deprecations of newer libraries into errors."""


def fast_and_patient(connection, _record):
    """No database is worth waiting for the disk here, but each for another thread that writes."""
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA busy_timeout = 60000")


def rest(seconds_of_look):
    """Sleep up to three times as long as the last look took, less if this process is idle.

    What is waited for runs in this process, too: much of the time is to be its own.
    """
    now = time.monotonic()
    earliest = now + max(0.1, seconds_of_look)
    latest = now + min(1.0, max(0.1, 3 * seconds_of_look))
    while now < latest:
        used = time.process_time()
        time.sleep(0.02)
        now = time.monotonic()
        if now >= earliest and time.process_time() - used < 0.004:
            return


class CloudTestCase(integrated_helpers.ProviderUsageBaseTestCase):
    """Hosts `host0`, `host1`, ... with our plugin in their scheduler, and helpers to use them."""

    compute_driver = "fake.FakeDriver"
    HOSTS = 2
    PLUGIN = True

    def setUp(self):
        self.useFixture(fixtures.MonkeyPatch("nova.tests.fixtures.WarningsFixture", QuietWarnings))
        event.listen(sqlalchemy.Engine, "connect", fast_and_patient)
        self.addCleanup(event.remove, sqlalchemy.Engine, "connect", fast_and_patient)
        self.configure()
        super().setUp()
        self.ledger = Placement(
            session.Session(auth=token_endpoint.Token(self.placement.fixture.endpoint, "admin"))
        )
        self.hosts = [f"host{number}" for number in range(self.HOSTS)]
        for host in self.hosts:
            self._start_compute(host)
        self.image = self.glance.auto_disk_config_enabled_image["id"]
        self.flavor = self._create_flavor(memory_mb=64, vcpu=1, disk=1, ephemeral=0)

    def _clear_attrs(self):
        """Nothing: Nova's cleanup would also remove the test method, which pytest has put here."""

    def configure(self):
        self.flags(api_paste_config=str(API_PASTE), group="wsgi")
        # Nova's tests check every answer of its API against its schema, which takes a tenth of all.
        self.flags(response_validation="ignore", group="api")
        self.flags(**SILENT_SERVICES)
        self.flags(max_attempts=1, group="scheduler")
        self.flags(server_group_members=-1, server_groups=-1, instances=-1, group="quota")
        self.flags(cores=-1, ram=-1, group="quota")
        if self.PLUGIN:
            self.enable_plugin()

    def enable_plugin(self):
        self.flags(
            available_filters=[
                "nova.scheduler.filters.all_filters",
                "nova_twotier.filters.all_filters",
            ],
            enabled_filters=[
                "ComputeFilter",
                "TierFilter",
                "BackgroundThresholdFilter",
                "VirtualClusterFilter",
            ],
            # Nova takes no soft server group without a weigher for it.
            weight_classes=[
                "nova_twotier.weighers.all_weighers",
                "nova.scheduler.weights.affinity.ServerGroupSoftAntiAffinityWeigher",
            ],
            soft_anti_affinity_weight_multiplier=0.0,
            group="filter_scheduler",
        )

    # Servers

    def boot(self, count=1, flavor=None, expect="ACTIVE", job=None, hints=None, **options):
        """Boot servers in one request, and return them when all have the expected status."""
        server = self._build_server(
            image_uuid=self.image, flavor_id=flavor or self.flavor, networks="none"
        )
        server.update(min_count=count, max_count=count, return_reservation_id=True, **options)
        hints = {**(hints or {}), **({"twotier:job": job} if job else {})}
        body = {"server": server, "os:scheduler_hints": hints}
        reservation = self.api.post_server(body)["reservation_id"]
        return self.poll(lambda: self._settled(reservation, count, expect), f"{count} x {expect}")

    def _settled(self, reservation, count, status):
        servers = self.api.get_servers(search_opts={"reservation_id": reservation})
        if len(servers) == count and all(server["status"] == status for server in servers):
            return sorted(servers, key=lambda server: server["name"])
        unexpected = {"ACTIVE", "ERROR"} - {status}
        wrong = [server for server in servers if server["status"] in unexpected]
        self.assertEqual([], [(server["status"], server.get("fault")) for server in wrong])
        return None

    def act(self, server, action, status="ACTIVE", **body):
        """Start an action on a server and wait until it has `status` and nothing to do."""
        self.api.post_server_action(server["id"], {action: body or None})
        return self.settle(server, status)

    def settle(self, server, status="ACTIVE"):
        def settled():
            seen = self.api.get_server(server["id"])
            self.assertNotEqual("ERROR", seen["status"], seen.get("fault"))
            idle = seen["OS-EXT-STS:task_state"] is None
            return seen if idle and seen["status"] == status else None

        return self.poll(settled, f"{server['id']} is {status}")

    def live_migrate(self, server, host=None):
        before = self._migrations(server)
        self.api.post_server_action(
            server["id"], {"os-migrateLive": {"host": host, "block_migration": "auto"}}
        )
        self.poll(
            lambda: self._migrations(server) == ["completed", *before],
            f"{server['id']} has migrated",
        )
        return self.settle(server)

    def _migrations(self, server):
        found = self.api.api_get(f"/os-migrations?instance_uuid={server['id']}").body["migrations"]
        return [migration["status"] for migration in found]

    def delete(self, servers):
        for server in servers:
            self.api.delete_server(server["id"])
        for server in servers:
            self._wait_until_deleted(server)

    def fault_of(self, server):
        """Why a server is in ERROR, which Nova writes a moment after the status."""
        fault = self.poll(
            lambda: self.api.get_server(server["id"]).get("fault"), f"{server['id']} has a fault"
        )
        return fault["message"]

    def host_of(self, server):
        return self.api.get_server(server["id"])["OS-EXT-SRV-ATTR:host"]

    @staticmethod
    def poll(look, what):
        """What `look` returns as soon as that is true.

        :raises AssertionError: if it does not become so.
        """
        end = time.monotonic() + TIMEOUT
        while (began := time.monotonic()) < end:
            if seen := look():
                return seen
            rest(time.monotonic() - began)
        raise AssertionError(f"waited {TIMEOUT} s in vain: {what}")

    @contextlib.contextmanager
    def placement_reads(self):
        """The URLs that Nova's report client reads meanwhile."""
        read = []
        original = report.SchedulerReportClient.get

        def get(client, url, **kwargs):
            read.append(url)
            return original(client, url, **kwargs)

        with mock.patch.object(report.SchedulerReportClient, "get", get):
            yield read


class TwoTierTestCase(CloudTestCase):
    """The ledger on top: every host has `SLOTS` slots and `TIERS` tiers."""

    SLOTS = 2
    TIERS = 2

    def setUp(self):
        super().setUp()
        tree.prepare(self.ledger)
        self.tiers = self.sync({host: tree.Shape(self.SLOTS, self.TIERS) for host in self.hosts})
        self.flavor = self.tier_flavor()

    def sync(self, shapes):
        return tree.sync_hosts(self.ledger, shapes)

    def tier_flavor(self, **extra):
        spec = {f"resources:{names.SLOT}": "1", **extra}
        return self._create_flavor(memory_mb=64, vcpu=1, disk=1, ephemeral=0, extra_spec=spec)

    def admit(self, tier, size, job=None):
        """Enter a job, or change its tier; returns its uuid."""
        job = job or str(uuid.uuid4())
        claims.admit(self.ledger, job, size, tier, PROJECT, USER)
        return job

    def request_spec(self, context, vms, **hints):
        """A request for VMs that has come as far as the scheduler."""
        return objects.RequestSpec(
            context=context,
            flavor=objects.Flavor.get_by_flavor_id(context, self.flavor),
            image=objects.ImageMeta(properties=objects.ImageMetaProps()),
            num_instances=len(vms),
            project_id=PROJECT,
            user_id=USER,
            instance_uuid=vms[0],
            instance_group=None,
            numa_topology=None,
            pci_requests=None,
            requested_destination=None,
            requested_resources=[],
            request_level_params=objects.RequestLevelParams(),
            scheduler_hints={name: [value] for name, value in hints.items()},
            retry=None,
            is_bfv=False,
            limits=objects.SchedulerLimits(),
            availability_zone=None,
            force_hosts=None,
            force_nodes=None,
            ignore_hosts=None,
            security_groups=objects.SecurityGroupList(objects=[]),
        )

    def boot_job(self, tier, size, **options):
        """Admit and boot a job: its uuid and its servers."""
        job = self.admit(tier, size)
        return job, self.boot(size, job=job, **options)

    def usage(self, resource_class=names.SLOT):
        """Use by tier, one number a host."""
        return {
            tier: [self._usage(host.provider[tier], resource_class) for host in self.tiers]
            for tier in Tier
        }

    def _usage(self, provider, resource_class):
        usages = self.ledger.get(f"/resource_providers/{provider}/usages")["usages"]
        return usages.get(resource_class, 0)

    def totals(self):
        """Slots in use by tier, as (foreground, background)."""
        usage = self.usage()
        return sum(usage[FG]), sum(usage[BG])

    def claim_of(self, server):
        """The host and tier of the one claim of a server."""
        found = claims.read_claims(self.ledger, self.tiers).get(server["id"], [])
        self.assertEqual(1, len(found), found)
        return found[0].host, found[0].tier

    def generations(self):
        """The generation of every provider of ours."""
        providers = [
            names.jobs_uuid(),
            *(rp for host in self.tiers for rp in host.provider.values()),
        ]
        return {
            provider: self.ledger.get(f"/resource_providers/{provider}")["generation"]
            for provider in providers
        }
