"""Preempted jobs that migrate into the background of other hosts instead of being saved."""

from unittest import mock

import testtools

from nova_twotier.core.actions import Evict, Start, StartKind
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.reasons import changes
from nova_twotier.db import plans
from nova_twotier.db.plans import EvictPlan, RelocatePlan
from nova_twotier.db.states import ActionKind, JobState, Preemption
from nova_twotier.ledger.placement import Conflict
from nova_twotier.manager import planning, relocations
from nova_twotier.manager.departures import Departure
from nova_twotier.manager.ongoing import departures
from tests.unit.manager.builders import BG, BY_NINE, FG, action, hosts, job, seen, servers
from tests.unit.manager.operation_case import OperationCase

HOSTS = "abc"


class TestFind(testtools.TestCase):
    """Two slots on each of three hosts; the victim has two processes on `a` and `b`."""

    def setUp(self):
        super().setUp()
        self.front = job(number=9, size=1)

    def find(self, victim, to, *others, started=(), **look):
        """How the victim is migrated; None if it is not.

        :param to: hosts of its processes after the decision.
        :param others: runs of the cluster besides.
        :param started: further jobs that the decision evicts and starts again, and where.
        """
        gang = look.pop("gang", servers(victim, hosts="ab"))
        tier = victim.tier
        where = hosts(HOSTS, slots=2)
        jobs = {one.number: one for one in (victim, *(each for each, _to in started))}
        gangs = [gang, *(servers(each, hosts="ab") for each, _to in started)]
        tiers = [tier, *(each.tier for each, _to in started)]
        runs = [Run(one.core, one.tier, (0, 1)) for one in jobs.values()]
        cluster = Hosts([Host(name, 2, 2) for name in HOSTS], runs=[*runs, *others])
        decision = []
        for one, places in ((victim, to), *started):
            decision += [
                Evict(one.core, one.tier, by=self.front.core),
                Start(one.core, BG, places, StartKind.BACKFILLED),
            ]
        look = seen(*gangs, tiers=tiers, where=where)
        found = relocations.find(decision, jobs, look, lambda: cluster)
        records = planning.records(decision, jobs, look, 5.0, dict(cluster.idle), found)
        expected = [
            each
            for number in jobs
            for each in (
                [(ActionKind.RELOCATE, number)]
                if number in found
                else [(ActionKind.EVICT, number), (ActionKind.START, number)]
            )
        ]
        self.assertEqual(sorted(expected), sorted((each.kind, each.job) for each in records))
        self.moved = set(found)
        return found.get(victim.number)

    def test_from_the_foreground(self):
        one = job(number=1, cpu=0.5, preemption=Preemption.SUSPEND)
        found = self.find(one, (2, 2))
        self.assertEqual(({0: "c", 1: "c"}, {0: "a", 1: "b"}), (found.targets, found.origins))
        self.assertEqual((), found.vms)
        self.assertEqual((9, "backfilled"), (found.by, found.how))
        self.assertEqual("shelve", found.mode, "suspended, it could not start elsewhere")

    def test_processes_that_keep_their_hosts_swap_in_place(self):
        found = self.find(job(number=1, cpu=0.5), (0, 2))
        self.assertEqual(({1: "c"}, ("1/0",)), (found.targets, found.vms))

    def test_or_stay_where_they_are(self):
        found = self.find(job(number=1, tier=BG), (0, 2))
        self.assertEqual(({1: "c"}, ()), (found.targets, found.vms))

    def test_only_into_slots_that_were_idle(self):
        other = Run(job(number=2, size=1).core, BG, (2,))
        self.assertIsNone(self.find(job(number=1), (2, 2), other))
        hot = Run(job(number=2, size=1, cpu=1.0).core, FG, (2,))
        self.assertIsNone(self.find(job(number=1), (2, 2), hot), "and open")
        self.assertIsNotNone(self.find(job(number=1), (2, 1), hot))

    def test_its_own_slot_is_still_closed(self):
        self.assertIsNone(self.find(job(number=1, cpu=1.0), (0, 2), Run(job(2).core, BG, (0, 2))))

    def test_no_slot_is_given_twice(self):
        one, two = job(number=1), job(number=2)
        self.find(one, (2, 2), started=[(two, (2, 2))])
        self.assertEqual({1}, self.moved)

    def test_only_a_whole_gang_that_runs(self):
        one = job(number=1)
        for gang in (
            servers(one, hosts="ab", status="PAUSED"),
            servers(one, hosts="ab", task="image_snapshot"),
            servers(one, hosts="a", count=1),
        ):
            self.assertIsNone(self.find(one, (2, 2), gang=gang))

    def test_nothing_is_built_without_such_a_job(self):
        one = job(number=1)
        before = mock.Mock()
        look = seen(servers(one, hosts="ab"))
        evict = Evict(one.core, FG, by=self.front.core)
        upwards = Start(one.core, FG, (0, 0), StartKind.IMMEDIATE)
        for decision in ([evict], [evict, upwards]):
            self.assertEqual({}, relocations.find(decision, {1: one}, look, before))
        before.assert_not_called()


class TestRelocate(OperationCase):
    """The second of two processes is to go to `b`."""

    def record(self, one, vms=(), **begun):
        plan = RelocatePlan({1: "b"}, {1: "a"}, vms, 9, "backfilled", Preemption.SUSPEND)
        return action(ActionKind.RELOCATE, one, plan, **begun)

    def setUp(self):
        super().setUp()
        swap = mock.patch("nova_twotier.ledger.claims.swap")
        self.swap = swap.start()
        self.addCleanup(swap.stop)

    def test_first_its_tier_changes(self):
        one = job(tier=FG)
        gang = servers(one)
        self.advance(self.record(one, (gang[0].id,)), one, seen(gang))
        [[_placement, _hosts, [change]]] = [call.args for call in self.swap.call_args_list]
        self.assertEqual((one.uuid, BG, (gang[0].id,)), (change.job, change.tier, change.vms))
        self.assertEqual("bg", one.tier)
        self.assertEqual([("live_migrate", gang[1], "b")], self.calls)

    def test_a_job_in_the_background_has_its_tier(self):
        one = job(tier=BG)
        gang = servers(one)
        step = self.advance(self.record(one), one, seen(gang, tiers=[BG]))
        self.assertIsNone(step.state)
        self.swap.assert_not_called()
        self.assertEqual([("live_migrate", gang[1], "b")], self.calls)

    def test_over_when_it_has_left(self):
        one = job(tier=BG)
        for host in "bc":
            gang = servers(one, hosts=("a", host))
            record = self.record(one)
            [note] = self.finish(record, one, seen(gang, tiers=[BG], where=hosts(HOSTS)))
            self.assertEqual("migrated", note.kind)
            self.assertEqual(changes.moved(1, 2, BG, 9), note.reason)
            self.assertEqual(100.0, one.swapped_at)
        self.assertEqual(JobState.RUNNING, one.state)

    def test_otherwise_it_is_saved(self):
        one = job(tier=BG)
        record = self.record(one, attempts={"migrate " + servers(one)[1].id: 3})
        step = self.advance(record, one, seen(servers(one), tiers=[BG]))
        self.assertEqual((None, []), (step.state, step.requests))
        self.assertEqual(ActionKind.EVICT, record.kind)
        self.assertEqual(EvictPlan(BY_NINE, Preemption.SUSPEND, unmoved=True), record.plan)
        self.assertEqual((100.0, JobState.PREEMPTING), (record.begun_at, one.state))
        self.assertEqual({}, record.progress.attempts)

    def test_also_when_a_slot_was_taken_meanwhile(self):
        one = job(tier=FG)
        self.swap.side_effect = Conflict("host b in bg is full")
        record = self.record(one)
        self.advance(record, one, seen(servers(one)))
        self.assertEqual((ActionKind.EVICT, "fg"), (record.kind, one.tier))
        self.assertEqual([], self.calls)

    def test_begins_anew_if_it_takes_too_long(self):
        one = job(tier=BG)
        gang = servers(one, task="migrating")
        late = self.record(one, begun_at=0.0)
        self.advance(late, one, seen(gang, tiers=[BG]), now=700.0, preemption_timeout=600.0)
        self.assertIs(JobState.PREEMPTING, one.state)
        self.assertEqual({"delete"}, {call[0] for call in self.calls})


class TestItsPlaces(testtools.TestCase):
    def test_where_each_process_will_be(self):
        one = job(tier=BG)
        plan = RelocatePlan({1: "b"}, {1: "a"}, (), 9, "backfilled", Preemption.SHELVE)
        [departure] = departures([action(ActionKind.RELOCATE, one, plan)], {one.number: one})
        self.assertEqual(Departure(one, departure.decision, BG, {1: "b"}, {1: "a"}), departure)
        claims = seen(servers(one), tiers=[BG]).claims
        before = [departure.target(i, claims[f"{one.number}/{i}"]) for i in (0, 1)]
        self.assertEqual([(BG, "a"), (BG, "b")], before)
        claims = seen(servers(one, hosts="ac"), tiers=[BG], where=hosts(HOSTS)).claims
        elsewhere = departure.target(1, claims[f"{one.number}/1"])
        self.assertEqual((BG, "c"), elsewhere, "Nova may have found another host")

    def test_the_plan_is_kept_as_json(self):
        plan = RelocatePlan({1: "b"}, {1: "a"}, ("vm",), 9, "reserved", Preemption.SHELVE)
        record = action(ActionKind.RELOCATE, job(), plan)
        stored = {**record.plan_data, "targets": {"1": "b"}, "origins": {"1": "a"}}
        self.assertEqual(plan, plans.load("relocate", stored))
