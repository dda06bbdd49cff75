"""Real Placement in this process, and no Nova: hosts and VMs are written as Nova would."""

import uuid

import requests
import testtools
from keystoneauth1 import session, token_endpoint
from placement.tests.functional.fixtures import placement as placement_fixtures

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims, names, tree
from nova_twotier.ledger.placement import Placement
from nova_twotier.ledger.reading import wanted_tier

FG, BG = Tier.FG, Tier.BG
PROJECT, USER = "project", "user"


def client_of(fixture):
    """The client of the product, with nothing of it replaced, on a Placement of this process."""
    auth = token_endpoint.Token(fixture.endpoint, "admin")
    return Placement(session.Session(auth=auth, session=requests.Session()))


def job_tier(placement, job):
    """The tier that a job's entry asks for; None if it has no entry."""
    return wanted_tier(placement.get(f"/allocations/{job}"))


class Overtaken(Placement):
    """A client that somebody else is faster than: `overtake` runs before each of `times` writes."""

    def __init__(self, client, overtake, times=1):
        self._adapter = client._adapter
        self.overtake = overtake
        self.times = times
        self.writes = 0

    def put(self, url, body=None):
        self._before()
        return super().put(url, body)

    def post(self, url, body):
        self._before()
        return super().post(url, body)

    def _before(self):
        self.writes += 1
        if self.writes <= self.times:
            self.overtake(self.writes)


class LedgerTestCase(testtools.TestCase):
    """Hosts `host0`, `host1`, ... with `SLOTS` slots and `TIERS` tiers."""

    HOSTS = 2
    SLOTS = 2
    TIERS = 2

    def setUp(self):
        super().setUp()
        self.ledger = client_of(self.useFixture(placement_fixtures.PlacementFixture()))
        self.roots = [self.make_host(f"host{number}") for number in range(self.HOSTS)]
        tree.prepare(self.ledger)
        self.tiers = self.sync(self.SLOTS, self.TIERS)

    def make_host(self, name):
        """What nova-compute reports."""
        root = str(uuid.uuid4())
        self.ledger.post("/resource_providers", {"uuid": root, "name": name})
        self.ledger.put(
            f"/resource_providers/{root}/inventories",
            {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 64}}},
        )
        return root

    def sync(self, slots, tiers, hosts=None, **rest):
        """Give hosts a shape, all of them by default; the others are in no aggregate."""
        numbers = range(self.HOSTS) if hosts is None else hosts
        shape = tree.Shape(slots, tiers, **rest)
        return tree.sync_hosts(self.ledger, {f"host{number}": shape for number in numbers})

    def claim(self, host, tier, vm=None):
        """Claim a place as Nova's scheduler does for a VM; returns the VM's uuid."""
        vm = vm or str(uuid.uuid4())
        child = names.child_uuid(self.roots[host], tier)
        self.ledger.put(
            f"/allocations/{vm}",
            {
                "allocations": {
                    self.roots[host]: {"resources": {"VCPU": 1}},
                    child: {"resources": {names.SLOT: 1}},
                },
                "project_id": PROJECT,
                "user_id": USER,
                "consumer_generation": None,
                "consumer_type": names.VM_CONSUMER,
            },
        )
        return vm

    def held(self):
        """Host and tier of each VM."""
        found = claims.read_claims(self.ledger, self.tiers)
        return {vm: (claim.host, claim.tier) for vm, [claim] in found.items()}

    def points(self, vm):
        [claim] = claims.read_claims(self.ledger, self.tiers)[vm]
        return claim.cpu_points

    def usage(self):
        """Slots in use by tier, one number a host."""
        return {
            tier: [
                self.ledger.get(f"/resource_providers/{host.provider[tier]}/usages")["usages"].get(
                    names.SLOT, 0
                )
                for host in self.tiers
            ]
            for tier in Tier
        }

    def inventory(self, host, tier):
        """Total and withheld slots."""
        provider = self.tiers[host].provider[tier]
        found = self.ledger.get(f"/resource_providers/{provider}/inventories")["inventories"]
        slot = found.get(names.SLOT, {"total": 0, "reserved": 0})
        return slot["total"], slot["reserved"]

    def delete(self, vm):
        """What Nova does when the VM is deleted."""
        self.ledger.delete(f"/allocations/{vm}")

    def admit(self, tier, size, job=None, **rest):
        job = job or str(uuid.uuid4())
        claims.admit(self.ledger, job, size, tier, PROJECT, USER, **rest)
        return job

    def move(self, job, size, tier):
        """Change the tier of a job's entry only, as before its VMs are live-migrated."""
        swap = claims.Swap(job, size, tier, ())
        claims.swap(self.ledger, self.tiers, [swap], PROJECT, USER)

    def generations(self):
        """The generation of every provider there is."""
        providers = self.ledger.get("/resource_providers")["resource_providers"]
        return {provider["name"]: provider["generation"] for provider in providers}
