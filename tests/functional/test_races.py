"""Two schedulers that have read the same ledger fight for its last slots."""

import collections
import random
import threading
import uuid

import fixtures
from nova import context as nova_context
from nova import exception
from nova.scheduler import manager, utils
from oslo_messaging.rpc import dispatcher as rpc

from nova_twotier.ledger import claims, names
from tests.functional.base import BG, FG, PROJECT, USER, TwoTierTestCase

ROUNDS = 60


class TestRace(TwoTierTestCase):
    HOSTS = 2
    SLOTS = 2

    def setUp(self):
        super().setUp()
        self.schedulers = [manager.SchedulerManager() for _worker in "ab"]
        self.context = nova_context.get_admin_context()
        self.jobs = {tier: self.admit(tier, 1) for tier in (FG, BG)}
        self.claim = utils.claim_resources
        self.useFixture(
            fixtures.MonkeyPatch("nova.scheduler.utils.claim_resources", self.claim_together)
        )

    def claim_together(self, context, client, spec, vm, *args, **kwargs):
        """Nova's claim; the first of each request waits until both have read and chosen."""
        if vm in self.first:
            self.first.remove(vm)
            self.barrier.wait(timeout=120)
        claimed = self.claim(context, client, spec, vm, *args, **kwargs)
        self.refused += not claimed
        return claimed

    def fill(self, places):
        """Let one consumer hold these places, given by their providers; returns the consumer."""
        filler = str(uuid.uuid4())
        held = collections.Counter(places)
        self.ledger.put(
            f"/allocations/{filler}",
            {
                "allocations": {each: {"resources": {names.SLOT: held[each]}} for each in held},
                "project_id": PROJECT,
                "user_id": USER,
                "consumer_generation": None,
                "consumer_type": names.VM_CONSUMER,
            },
        )
        return filler

    def fight(self, tier, requests):
        """Let each scheduler place one request, both at once; hosts by VM, None for a loser."""
        self.first = {vms[0] for vms in requests}
        self.barrier = threading.Barrier(len(requests))
        self.refused = 0
        results = [None] * len(requests)

        def place(number):
            vms = requests[number]
            spec = self.request_spec(self.context, vms, **{"twotier:job": self.jobs[tier]})
            try:
                selected = self.schedulers[number].select_destinations(
                    self.context,
                    spec_obj=spec,
                    instance_uuids=vms,
                    return_objects=True,
                    return_alternates=False,
                )
            except rpc.ExpectedException as error:
                # So Nova's scheduler sends home what it does not log as an error of its own.
                if isinstance(error.exc_info[1], exception.NoValidHost):
                    results[number] = {}
            else:
                hosts = [hosts[0].service_host for hosts in selected]
                results[number] = dict(zip(vms, hosts, strict=True))

        threads = [threading.Thread(target=place, args=(n,)) for n in range(len(requests))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertNotIn(None, results, "a scheduler failed otherwise than by NoValidHost")
        return results

    def check(self, tier, occupied, placed):
        """Placed is who the scheduler says where it says, nobody else, and within the slots."""
        held = claims.read_claims(self.ledger, self.tiers)
        seats = {vm: [(claim.host, claim.tier) for claim in held[vm]] for vm in held}
        for vm, host in placed.items():
            self.assertEqual([(host, tier)], seats.pop(vm))
        self.assertLessEqual(len(seats), 1, "a loser holds a slot")
        used = collections.Counter(placed.values())
        for host in self.tiers:
            self.assertLessEqual(used[host.name] + occupied[host.provider[tier]], self.SLOTS)

    def test_last_slots(self):
        draw = random.Random(4)
        seen = collections.Counter()
        for _round in range(ROUNDS):
            tier = draw.choice((FG, BG))
            places = [host.provider[tier] for host in self.tiers for _slot in range(self.SLOTS)]
            free = draw.randint(1, len(places) - 1)
            occupied = draw.sample(places, len(places) - free)
            filler = self.fill(occupied)
            requests = [
                [str(uuid.uuid4()) for _vm in range(draw.randint(1, free))] for _scheduler in "ab"
            ]
            results = self.fight(tier, requests)

            placed = {vm: host for result in results for vm, host in result.items()}
            self.check(tier, collections.Counter(occupied), placed)
            losers = results.count({})
            if sum(map(len, requests)) <= free:
                self.assertEqual(0, losers, "there is room for both")
                seen["another host"] += bool(self.refused)
            else:
                self.assertGreater(losers, 0)
                seen["no valid host"] += losers
            seen["refused"] += bool(self.refused)
            for vm in (filler, *placed):
                self.ledger.delete(f"/allocations/{vm}")
        self.assertEqual((0, 0), self.totals())
        for what in ("refused", "another host", "no valid host"):
            self.assertGreater(seen[what], 0, f"no race was run: {seen}")
