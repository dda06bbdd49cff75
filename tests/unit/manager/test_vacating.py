"""Which jobs are moved off drained hosts, and where to."""

import math

import testtools

from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.db.plans import dump, load
from nova_twotier.db.states import ActionKind
from nova_twotier.manager import vacating
from tests.unit.manager.builders import BG, FG, hosts, job, seen, servers

NAMES = "abc"


class TestFind(testtools.TestCase):
    """Three hosts of two slots; `a` is drained."""

    def test_not_where_it_would_close_a_slot_under_another(self):
        """The policy would preempt that one."""
        cluster = Hosts([Host(name, 2, 2, name != "a") for name in NAMES])
        jobs, gangs = {}, []
        for number, (tier, where, cpu) in enumerate(
            ((FG, "a", 1.0), (FG, "b", 0.5), (FG, "cc", 0.5), (BG, "bb", 0.5), (BG, "cc", 0.5)), 1
        ):
            jobs[number] = one = job(size=len(where), tier=tier, number=number, cpu=cpu)
            gangs.append(servers(one, hosts=tuple(where)))
            cluster.adopt(Run(one.core, tier, tuple(map(NAMES.index, where)), False, math.inf))
        look = seen(*gangs, where=hosts(NAMES, slots=2))
        self.assertEqual(([], True), vacating.find(cluster, jobs, look, 7.0, ("a",)))
        self.assertEqual([0, 0, 0], [cluster.overfull(host) for host in range(3)])
        self.assertEqual((0,), cluster.runs[1].hosts)

    def find(self, *placed, pinned=(), vacated=("a",), status="ACTIVE", **values):
        """Targets and origins of each job, by its place, and whether others are left.

        :param placed: tier and hosts of each job.
        """
        specs = [Host(name, 2, 2, name not in vacated) for name in NAMES]
        cluster, jobs, gangs = Hosts(specs), {}, []
        for number, (tier, where) in enumerate(placed, start=1):
            one = job(size=len(where), tier=tier, number=number, **values)
            jobs[number] = one
            gangs.append(servers(one, status, hosts=tuple(where)))
            indices = tuple(map(NAMES.index, where))
            cluster.adopt(Run(one.core, tier, indices, number in pinned, math.inf))
        look = seen(*gangs, where=hosts(NAMES, slots=2))
        records, left = vacating.find(cluster, jobs, look, 7.0, vacated)
        for record in records:
            self.assertEqual((ActionKind.VACATE, 7.0), (record.kind, record.created_at))
            self.assertEqual(record.plan, load(record.kind, dump(record.plan)))
        return {each.job: (each.plan.targets, each.plan.origins) for each in records}, left

    def test_only_the_processes_that_are_there(self):
        found, left = self.find((FG, "ab"))
        self.assertEqual(({1: ({0: "b"}, {0: "a"})}, False), (found, left))

    def test_each_gets_a_slot_of_its_own(self):
        found, left = self.find((FG, "aa"), (FG, "bb"), (BG, "a"))
        self.assertEqual({1: ({0: "c", 1: "c"}, {0: "a", 1: "a"})}, {1: found[1]})
        self.assertIn(found[3][0][0], "bc")
        self.assertFalse(left)

    def test_all_or_none(self):
        found, left = self.find((FG, "aa"), (FG, "bbc"))
        self.assertEqual(({}, True), (found, left))

    def test_a_later_one_that_fits_need_not_wait(self):
        found, left = self.find((FG, "aa"), (FG, "bbc"), (BG, "a"))
        self.assertEqual(([3], True), ([*found], left))

    def test_not_under_a_slot_that_the_migration_closes(self):
        """Hot processes that move close the slots of their new hosts."""
        found, left = self.find((FG, "aa"), (BG, "aaa"[:2]), (FG, "bb"), cpu=1.0)
        self.assertEqual(([1], True), ([*found], left))

    def test_those_that_have_to_stay_for_now(self):
        self.assertEqual(({}, True), self.find((FG, "aa"), pinned=(1,)))
        self.assertEqual(({}, True), self.find((FG, "aa"), status="PAUSED"))
        self.assertEqual(({}, True), self.find((FG, "aa"), bandwidth=10.0))

    def test_nothing_to_do(self):
        self.assertEqual(({}, False), self.find((FG, "bb")))
        self.assertEqual(({}, False), self.find((FG, "aa"), vacated=()))
