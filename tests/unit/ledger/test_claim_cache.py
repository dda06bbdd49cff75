"""How many providers the claim cache reads at a poll, by the number of hosts."""

import testtools

from nova_twotier.core.actions import Tier
from nova_twotier.ledger.claim_cache import MOST_RENEWED, ClaimCache
from nova_twotier.ledger.names import SLOT
from nova_twotier.ledger.shape import Shape
from nova_twotier.ledger.tree import TierHost


class Ledger:
    """Placement with the claims that the test makes; it notes which providers are read."""

    def __init__(self, hosts):
        self.hosts = hosts
        self.claims = {uuid: [] for host in hosts for uuid in host.provider.values()}
        self.generations = dict.fromkeys(self.claims, 0)
        self.read = []

    def get(self, url):
        if not url.endswith("/allocations"):
            tier = Tier.FG if url.endswith("FG") else Tier.BG
            uuids = [host.provider[tier] for host in self.hosts]
            return {"resource_providers": [self._shown(uuid) for uuid in uuids]}
        uuid = url.split("/")[2]
        self.read.append(uuid)
        held = {vm: {"resources": {SLOT: 1}} for vm in self.claims[uuid]}
        return {"allocations": held, "resource_provider_generation": self.generations[uuid]}

    def _shown(self, uuid):
        return {"uuid": uuid, "generation": self.generations[uuid]}


class TestRenewal(testtools.TestCase):
    def cloud(self, hosts):
        """A cloud whose claims have been read once."""
        self.ledger = Ledger(
            [
                TierHost(f"host{n}", Shape(1, 2), {tier: f"{n}-{tier.name}" for tier in Tier})
                for n in range(hosts)
            ]
        )
        self.cache = ClaimCache(self.ledger)
        self.poll()

    def poll(self, **settled):
        """The claims, and the providers that were read."""
        self.ledger.read = []
        found = self.cache.poll(self.ledger.hosts, settled)
        return found, self.ledger.read

    def test_a_poll_reads_no_more_providers_in_a_larger_cloud(self):
        for hosts in (400, 1000):
            self.cloud(hosts)
            _found, read = self.poll()
            self.assertEqual(MOST_RENEWED, len(read), hosts)

    def test_all_providers_have_their_turn(self):
        self.cloud(400)
        read = [uuid for _ in range(800 // MOST_RENEWED) for uuid in self.poll()[1]]
        self.assertEqual(self.ledger.claims.keys(), set(read))
        self.assertEqual(800, len(read))

    def test_a_claim_that_is_deleted_unseen_disappears_when_its_turn_comes(self):
        self.cloud(400)
        self.ledger.claims["0-FG"], self.ledger.generations["0-FG"] = ["vm"], 1
        self.assertIn("vm", self.poll(vm="host0")[0])
        self.ledger.claims["0-FG"] = []
        polls = [bool(self.poll(vm="host0")[0]) for _ in range(800 // MOST_RENEWED)]
        self.assertTrue(polls[0])
        self.assertFalse(polls[-1])

    def test_changes_are_read_however_many_there_are(self):
        self.cloud(400)
        changed = {f"{n}-BG" for n in range(100)}
        self.ledger.generations |= dict.fromkeys(changed, 1)
        self.assertThat(changed - set(self.poll()[1]), testtools.matchers.HasLength(0))
