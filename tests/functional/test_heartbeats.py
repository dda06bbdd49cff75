"""Heartbeats of node agents in real Placement."""

from nova_twotier.ledger import names
from nova_twotier.ledger.heartbeats import INTERVAL, LATEST, Heart, Heartbeats
from tests.functional.ledger_case import BG, FG, LedgerTestCase, Overtaken


class TestHeartbeats(LedgerTestCase):
    def setUp(self):
        super().setUp()
        self.watcher = Heartbeats(self.ledger)
        self.now = 0.0

    def beat(self, client=None):
        Heart(client or self.ledger).beat(self.tiers[0].provider[FG])

    def run_for(self, seconds, beats=False):
        """Poll each second; returns which hosts may have an agent in the end."""
        for _second in range(int(seconds)):
            self.now += 1.0
            if beats and self.now % INTERVAL == 0:
                self.beat()
            self.watcher.poll(self.now)
        return [self.watcher.may_live(host.provider[FG], self.now) for host in self.tiers]

    def test_at_first_every_host_may_have_an_agent(self):
        self.beat()
        self.assertEqual([True, True], self.run_for(LATEST - 1))
        self.assertEqual([False, False], self.run_for(10))

    def test_an_agent_that_starts_and_stops(self):
        self.run_for(LATEST + 1)
        for _time in range(3):
            self.assertEqual([True, False], self.run_for(10 * INTERVAL, beats=True))
            self.assertEqual([True, False], self.run_for(LATEST - INTERVAL))
            self.assertEqual([False, False], self.run_for(2 * INTERVAL))

    def test_a_watcher_that_was_stopped(self):
        """It may have missed all heartbeats of the meantime."""
        self.run_for(10 * INTERVAL, beats=True)
        self.now += 10 * INTERVAL
        self.assertEqual([True, True], self.run_for(1))
        self.assertEqual([True, False], self.run_for(2 * LATEST, beats=True))

    def test_the_other_traits_stay(self):
        def traits(tier=FG):
            url = f"/resource_providers/{self.tiers[0].provider[tier]}/traits"
            return {*self.ledger.get(url)["traits"]}

        before, background = traits(), traits(BG)
        self.beat(Overtaken(self.ledger, lambda _write: self.claim(0, FG), times=2))
        self.assertEqual(before | {names.HEARTBEAT_TRAIT}, traits())
        self.sync(self.SLOTS + 1, self.TIERS)
        self.assertIn(names.HEARTBEAT_TRAIT, traits())
        self.sync(self.SLOTS, self.TIERS)
        self.beat()
        self.assertEqual((before, background), (traits(), traits(BG)))
