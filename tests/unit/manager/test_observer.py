"""What the manager sees of servers and claims that are read one after the other."""

from unittest import mock

import testtools

from nova_twotier.ledger.claim_cache import ClaimCache
from nova_twotier.ledger.claims import Claim
from nova_twotier.manager.observer import Observer
from tests.unit.manager.builders import FG, hosts, job, servers


class ObserverCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud, self.known = mock.Mock(), mock.Mock()
        self.known.tree, self.known.enabled = hosts(), frozenset("ab")
        self.known.is_blind.return_value = False
        self.outages = mock.Mock(dead=frozenset("b"), reason=None)
        self.observer = Observer(self.cloud, mock.Mock(), self.known, self.outages)

    def poll(self, held, *listings, now=100.0):
        """:param listings: the servers that Nova lists, each time that it is asked."""
        held = {vm: [Claim(vm, host, FG, 0) for host in places] for vm, places in held.items()}
        self.cloud.servers.side_effect = listings
        with mock.patch.object(ClaimCache, "poll", return_value=held):
            return self.observer.poll(now)


class TestObserver(ObserverCase):
    def test_gangs_in_the_order_of_the_processes(self):
        one, two = job(), job(size=1)
        gangs = servers(one), servers(two)
        look = self.poll({}, [*reversed(gangs[0]), *gangs[1]])
        self.assertEqual({one.uuid: gangs[0], two.uuid: gangs[1]}, look.servers)

    def test_a_server_that_is_made_meanwhile_is_no_stranger(self):
        one = job(size=2)
        first, second = servers(one)
        look = self.poll({first.id: "a", second.id: "a"}, [first], [first, second])
        self.assertEqual([first, second], look.gang(one))

    def test_strangers_are_asked_for_once(self):
        self.poll({"vm": "a"}, [], [])
        look = self.poll({"vm": "a"}, [])
        self.assertEqual({"vm"}, {claim.vm for claim in look.unmanaged(())})

    def test_more_than_one_slot(self):
        look = self.poll({"one": "a", "two": "ab"}, [], [])
        self.assertEqual(["one"], list(look.claims))
        self.assertEqual([("two", "a"), ("two", "b")], [(c.vm, c.host) for c in look.others])

    def test_an_evacuated_server_keeps_the_slot_where_it_is(self):
        """And holds the other one, until its old host is back."""
        one = job(size=1)
        [server] = servers(one, hosts=("b",))
        look = self.poll({server.id: "ab"}, [server])
        self.assertEqual(("b", True), (look.claims[server.id].host, look.whole(one)))
        self.assertEqual({(server.id, "a")}, {(c.vm, c.host) for c in look.unmanaged([one])})

    def test_what_its_owner_does_to_it_changes_nothing(self):
        one = job(size=1)
        [server] = servers(one, hosts=("b",), task="image_uploading")
        look = self.poll({server.id: "ab"}, [server])
        self.assertEqual(("b", True), (look.claims[server.id].host, look.whole(one)))

    def test_while_it_is_evacuated_it_holds_neither(self):
        one = job(size=1)
        [server] = servers(one, hosts=("b",), task="rebuilding")
        look = self.poll({server.id: "ab"}, [server])
        self.assertEqual((set(), set()), (set(look.claims), look.unmanaged([one])))
        self.assertEqual({server.id}, look.moving)

    def test_a_host_that_was_dead_long_ago_may_be_back(self):
        """Nova may give it servers before the manager hears of it."""
        self.assertEqual({"b"}, self.poll({}, []).down)
        self.known.is_blind.return_value = True
        self.assertEqual(set(), self.poll({}, [], now=200.0).down)

    def test_hosts_that_are_dead(self):
        look = self.poll({}, [])
        self.outages.judge.assert_called_once_with(
            self.known.computes, self.known.down, 100.0, False
        )
        self.assertEqual(({"b"}, None), (look.down, look.outage))


class TestLater(ObserverCase):
    """What was worked out of an observation holds as long as only time has passed."""

    def setUp(self):
        super().setUp()
        self.job = job(size=1)
        self.listing = servers(self.job)
        self.held = {self.listing[0].id: [Claim(self.listing[0].id, "a", FG, 0)]}
        self.recorded, self.known.closes = {}, {}
        self.first = self.again()

    def again(self, now=100.0):
        self.cloud.servers.side_effect = [self.listing]
        with mock.patch.object(ClaimCache, "poll", return_value=self.held):
            return self.observer.poll(now, self.recorded)

    def test_only_the_time_has_passed(self):
        later = self.again(107.0)
        self.assertEqual((True, 107.0), (later.continues(self.first), later.at))
        self.assertEqual(100.0, self.first.at)

    def test_anything_else_is_looked_at_anew(self):
        tree = hosts()

        def change(name, value, of=self):
            return lambda: setattr(of, name, value)

        for happens in (
            change("listing", servers(self.job, status="SHUTOFF")),
            change("held", {}),
            change("recorded", {"vm": self.job.uuid}),
            change("tree", tree[:1], self.known),
            change("enabled", frozenset("a"), self.known),
            change("closes", {"a": 200.0}, self.known),
            change("dead", frozenset("a"), self.outages),
            change("reason", "outage", self.outages),
        ):
            before = self.again()
            self.assertTrue(self.again().continues(before))
            happens()
            self.assertFalse(self.again().continues(before))

    def test_what_is_seen_after_a_change(self):
        self.listing = servers(self.job, status="SHUTOFF")
        self.assertEqual(({self.job.uuid}, set()), (self.again().off, self.first.off))
