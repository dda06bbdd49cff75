"""What the manager sees of servers and claims that are read one after the other."""

from unittest import mock

import testtools

from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.holdings import Holdings
from nova_twotier.manager.observer import Observer
from tests.unit.manager.builders import FG, hosts, job, servers


class TestObserver(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud, self.known = mock.Mock(), mock.Mock()
        self.known.tree, self.known.enabled = hosts(), frozenset("ab")
        self.known.down = {"b": 90.0}
        self.observer = Observer(self.cloud, mock.Mock(), self.known)

    def look(self, held, *listings, now=100.0):
        """:param listings: the servers that Nova lists, each time that it is asked."""
        held = {vm: [Claim(vm, host, FG, 0) for host in places] for vm, places in held.items()}
        self.cloud.servers.side_effect = listings
        with mock.patch.object(Holdings, "look", return_value=held):
            return self.observer.look(now, down_grace=30.0)

    def test_gangs_in_the_order_of_the_processes(self):
        one, two = job(), job(size=1)
        gangs = servers(one), servers(two)
        look = self.look({}, [*reversed(gangs[0]), *gangs[1]])
        self.assertEqual({one.uuid: gangs[0], two.uuid: gangs[1]}, look.servers)

    def test_a_server_that_is_made_meanwhile_is_no_stranger(self):
        one = job(size=2)
        first, second = servers(one)
        look = self.look({first.id: "a", second.id: "a"}, [first], [first, second])
        self.assertEqual([first, second], look.gang(one))

    def test_strangers_are_asked_for_once(self):
        self.look({"vm": "a"}, [], [])
        look = self.look({"vm": "a"}, [])
        self.assertEqual({"vm"}, {claim.vm for claim in look.strangers(())})

    def test_more_than_one_slot(self):
        look = self.look({"one": "a", "two": "ab"}, [], [])
        self.assertEqual(["one"], list(look.claims))
        self.assertEqual([("two", "a"), ("two", "b")], [(c.vm, c.host) for c in look.several])

    def test_hosts_that_are_down_for_long(self):
        self.assertEqual(set(), self.look({}, [], now=119.0).down)
        self.assertEqual({"b"}, self.look({}, [], now=120.0).down)
