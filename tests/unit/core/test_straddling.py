"""Runs of which some hosts take new VMs and others do not: whom they make way for, and where."""

import dataclasses
import random

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Kill, Move, Start
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.policies.preemption import by_places, select
from nova_twotier.core.qos import Qos
from nova_twotier.core.queue import Queue
from nova_twotier.core.snapshot import Event, Snapshot
from tests.unit.core.builders import BG, FG, job
from tests.unit.core.test_qos import (
    CONSOLIDATING,
    PREEMPTING,
    TWO_TIERS,
    ClassDriver,
    of_class,
    preempted,
    scavenger,
    tiers,
    urgent,
)

ANYTHING = Event.ARRIVAL | Event.FOREGROUND | Event.BACKGROUND


def drained(last, *runs, others=1, slots=1, threads=2):
    """Hosts, the last of which takes nothing new, and the runs on them."""
    shapes = [Host(f"host{n}", slots, threads) for n in range(others)]
    return Hosts([*shapes, Host(last, slots, threads, enabled=False)], runs=runs)


class TestPlaces(testtools.TestCase):
    """What a cluster says of them."""

    def test_only_processes_on_hosts_that_take_new_vms_count(self):
        whole, split, away = job(1), job(2, 3), job(3)
        runs = Run(whole, FG, (0,)), Run(split, FG, (0, 1, 1)), Run(away, FG, (1,))
        made = drained("gone", *runs, slots=4)
        self.assertEqual({2: 1}, made.straddling(FG))
        self.assertEqual({}, made.straddling(BG))
        self.assertEqual([1, 2], [run.job.number for run in made.evictable()])
        cut = by_places(made.evictable(), made.straddling(FG))
        self.assertEqual({1: 1, 2: 1}, {run.job.number: run.job.size for run in cut})
        before = made.idle[FG]
        made.remove(split)
        self.assertEqual(before + 1, made.idle[FG])

    def test_none_while_all_hosts_take_new_vms(self):
        made = Hosts([Host("a", 1), Host("b", 1)], runs=[Run(job(1, 2), FG, (0, 1))])
        self.assertEqual({}, made.straddling(FG))
        made.limit_hosts({0})
        self.assertEqual({1: 1}, made.straddling(FG))
        self.assertEqual({1: 1}, made.copy().straddling(FG))
        made.limit_hosts(())
        self.assertEqual(({}, []), (made.straddling(FG), made.evictable()))

    def test_a_host_with_more_vms_than_slots_frees_none(self):
        made = drained("gone", Run(job(1, 3), FG, (0, 0, 1)))
        self.assertEqual([], made.evictable())
        made = drained("gone", Run(scavenger(1, 3), BG, (0, 0, 1)))
        self.assertEqual([], made.scavengers())

    def test_the_selection_names_whole_jobs(self):
        """4 frees one slot of three; 3, which lost two for 1, takes it, and stays."""
        holders = [Run(job(2, 3), FG, ()), Run(job(3, 2), FG, ()), Run(job(4, 3), FG, ())]
        waiting = Queue([job(1, 4)])
        found = select(waiting, Queue(), lambda _after: holders, 0, {4: 1})
        self.assertEqual([1], [each.number for each in found.chosen])
        sizes = {n: (one.size, by.number, by.size) for n, (one, by) in found.evicted.items()}
        self.assertEqual({2: (3, 1, 4), 4: (3, 3, 2)}, sizes)


class TestDrainedHost(testtools.TestCase):
    """One process of a run is on a host that is drained."""

    def test_an_urgent_job_preempts_it(self):
        for policy in PREEMPTING:
            made = drained("gone", Run(job(1, 2), FG, (0, 1)))
            driver = ClassDriver(self, policy, made)
            driver.arrive(urgent(2))
            self.assertEqual((FG, (0,)), driver.cluster.runs[2][1:3], policy)
            self.assertNotEqual(FG, tiers(driver).get(1), policy)

    def test_it_falls_in_place_as_elsewhere(self):
        """It keeps its servers there, which would find no slots if they came back."""
        for policy in CONSOLIDATING:
            driver = ClassDriver(self, policy, drained("gone", Run(job(1, 2), FG, (0, 1))))
            [fall, _start] = driver.arrive(urgent(2))
            self.assertIsInstance(fall, Move)
            self.assertEqual(((0, 1), (0, 1), BG), (fall.before, fall.after, fall.tier), policy)

    def test_it_leaves_if_the_background_there_has_no_room(self):
        for policy in CONSOLIDATING:
            runs = Run(job(1, 2), FG, (0, 1)), Run(job(2, foreground=False), BG, (1,))
            driver = ClassDriver(self, policy, drained("gone", *runs))
            self.assertEqual({1: 3}, preempted(driver.arrive(urgent(3))), policy)
            self.assertEqual({2: BG, 3: FG}, tiers(driver), policy)

    def test_it_stays_for_who_needs_more_than_it_frees(self):
        for policy in PREEMPTING:
            made = drained("gone", Run(job(1, 2), FG, (0, 1)))
            driver = ClassDriver(self, policy, made)
            self.assertEqual({}, preempted(driver.arrive(urgent(2, 2))), policy)
            self.assertEqual(FG, tiers(driver)[1], policy)

    def test_it_stays_where_it_frees_nothing(self):
        for policy in PREEMPTING:
            made = drained("gone", Run(job(1, 2), FG, (1, 1)), slots=2)
            driver = ClassDriver(self, policy, made)
            driver.arrive(job(2, 2))
            driver.arrive(urgent(3, 2))
            self.assertEqual(FG, tiers(driver)[1], policy)
            self.assertEqual(FG, tiers(driver)[3], policy)

    def test_a_scavenger_makes_way(self):
        for policy in TWO_TIERS:
            runs = Run(job(1), FG, (0,)), Run(scavenger(2, 2), BG, (0, 1))
            driver = ClassDriver(self, policy, drained("gone", *runs))
            self.assertEqual({}, preempted(driver.arrive(job(3, 2))), policy)
            self.assertEqual({2: 4}, preempted(driver.arrive(job(4))), policy)
            self.assertEqual({1: FG, 4: BG}, tiers(driver), policy)

    def test_the_reason_counts_what_it_frees(self):
        made = drained("gone", Run(job(2, 2), FG, (0, 1)))
        for policy in ("amcbf", "cmbf", "acfcfs"):
            snapshot = Snapshot(made, [job(1, 2)])
            found = policies.get(policy).reasons(snapshot)(snapshot.queue[0])
            self.assertIn("1 held by later", str(found), policy)


class TestAtRandom(testtools.TestCase):
    """Hosts that go down under running jobs, and jobs of all classes that come then.

    The driver checks that no slot is given twice, and none of a host that is down.
    """

    @settings(max_examples=600)
    @given(st.sampled_from(sorted({*PREEMPTING, *TWO_TIERS})), st.integers(0, 2**32))
    def test_who_makes_somebody_leave_runs_then(self, policy, seed):
        chosen = random.Random(seed)
        shapes = [Host(f"host{n}", chosen.randint(1, 3)) for n in range(chosen.randint(2, 4))]
        stream = [
            of_class(job(n, chosen.randint(1, 4), chosen.choice((0.5, 1.0))), each)
            for n, each in enumerate(chosen.choices(list(Qos), k=chosen.randint(2, 10)))
        ]
        chosen.shuffle(stream)  # those who come before others may come after them
        before = ClassDriver(self, policy, shapes)
        count = chosen.randint(1, len(stream))
        before.arrive(*stream[:count])
        down = [dataclasses.replace(each, enabled=chosen.random() < 0.6) for each in shapes]
        runs = [run._replace(pinned=chosen.random() < 0.1) for run in before.cluster.runs.values()]
        driver = ClassDriver(self, policy, Hosts(down, runs=runs))
        driver.waiting, driver.admitted = before.waiting, before.admitted
        driver._admit(stream[count:])
        for _decision in range(50):
            shown = dict(driver.cluster.runs)
            actions = driver.decide(ANYTHING)
            if not actions:
                break
            self.check(shown, driver.cluster.runs, actions)
        else:
            self.fail(f"{policy} decides for ever")

    def check(self, before, after, actions):
        came = {each.job.number for each in actions if isinstance(each, Start | Move)}
        lost = {a.job.number: a for a in actions if isinstance(a, Evict | Kill | Move) and a.by}
        for each in lost.values():
            self.assertEqual(before[each.job.number].job, each.job, "a job loses no process")
            while each.by.number not in after:
                # It kept the background for a moment, till the preemptor's hot processes closed it.
                each = lost[each.by.number]
            by = each.by.number
            self.assertEqual(each.by, after[by].job, "the preemptor is a job as it runs")
            # One that was to leave itself, and took the slots of a later one instead, stays.
            self.assertTrue(by in came or before[by] == after[by], each)
            self.assertTrue(came, "somebody left for nobody")
        held, holds = (
            {run.job.order for run in runs.values() if run.tier is FG} for runs in (before, after)
        )
        if held - holds:
            self.assertLess(min(holds - held), min(held - holds), "an earlier one gained from it")
