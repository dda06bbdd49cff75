"""The slots of a job that ends become idle together."""

import dataclasses

import testtools

from nova_twotier.db.states import ActionKind
from nova_twotier.manager import forecast
from nova_twotier.manager.ongoing import PATIENCE
from nova_twotier.manager.releases import Place, Releases
from tests.unit.manager.builders import FG, action, hosts, job, seen, servers

NOW = 100.0


class TestReleases(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.job = job(size=2)
        self.jobs = {self.job.number: self.job}
        self.gang = servers(self.job, hosts=("a", "b"))
        self.end = action(ActionKind.END, self.job, begun_at=NOW)
        self.releases = Releases()

    def partial(self, *left, at=NOW, claims=None):
        """
        :param left: the servers that Nova still lists.
        :param claims: those that still hold their slots, if others.
        """
        look = seen(self.gang, at=at, where=hosts("ab", slots=1))
        look.servers[self.job.uuid] = list(left)
        look = dataclasses.replace(
            look, claims={each.id: look.claims[each.id] for each in (claims or left)}
        )
        self.look = look
        return self.releases.partial([self.end], self.jobs, look)

    def idle(self, releasing):
        made = forecast.cluster_of(self.look, (), {}, [self.job], 0.96, releasing=releasing)
        return made.idle[FG]

    def test_they_count_until_the_last_one_is_free(self):
        first, second = self.gang
        self.assertEqual({}, self.partial(first, second))
        releasing = self.partial(second)
        expected = {first.id: Place(0, "a"), second.id: Place(1, "b")}
        self.assertEqual({self.job.number: expected}, releasing)
        self.assertEqual((1, 0), (self.idle({}), self.idle(releasing)))
        self.assertEqual({}, self.partial())
        self.assertEqual(2, self.idle({}))

    def test_a_claim_that_nova_drops_after_its_server_counts_once(self):
        first, second = self.gang
        self.partial(first, second)
        releasing = self.partial(claims=[second])
        self.assertEqual(0, self.idle(releasing))
        self.assertEqual([1, 1], self.used(releasing))

    def used(self, releasing):
        made = forecast.cluster_of(self.look, (), {}, [self.job], 0.96, releasing=releasing)
        return made.used[FG]

    def test_a_late_end_is_not_waited_for(self):
        first, second = self.gang
        self.partial(first, second)
        self.assertEqual({}, self.partial(second, at=NOW + PATIENCE))

    def test_after_a_restart_what_is_left_is_known(self):
        _first, second = self.gang
        self.assertEqual({}, self.partial(second))

    def test_a_host_that_has_left(self):
        first, second = self.gang
        self.partial(first, second)
        releasing = self.partial(second)
        self.look = dataclasses.replace(
            self.look, hosts=hosts("b", slots=1), enabled=frozenset("b")
        )
        self.assertEqual([1], self.used(releasing))
