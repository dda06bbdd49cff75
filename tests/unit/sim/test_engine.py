"""From event to event: when jobs start and end, worked out by hand."""

import pickle
import sys

import testtools

from nova_twotier.core import policies
from nova_twotier.core.actions import FG, Start, StartKind
from nova_twotier.core.cluster import Host, OutOfSlots
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.nodes import Counted, Nodes
from nova_twotier.core.policies import Policy
from nova_twotier.core.snapshot import Event
from nova_twotier.sim import engine
from nova_twotier.sim.running_jobs import RunningJobs
from tests.unit.sim.run_builders import PLAIN, execution, jobs, run, running_on


class Observed(Policy):
    """Another policy, with what it was asked and when.

    :param look: called with the snapshot before each decision.
    """

    def __init__(self, name, look=None):
        self._policy = policies.get(name)
        self.name, self.tiers = name, self._policy.tiers
        self.passes = []
        self._look = look

    def schedule(self, snapshot, event, now):
        self.passes.append((now, event))
        if self._look:
            self._look(snapshot)
        return self._policy.schedule(snapshot, event, now)


class Idle(Policy):
    """Starts nothing."""

    name = "idle"

    def schedule(self, snapshot, event, now):
        return []


class Greedy(Idle):
    """Starts a job whether it fits or not."""

    name = "greedy"

    def schedule(self, snapshot, event, now):
        job = snapshot.queue[0]
        snapshot.queue.remove(job)
        return [Start(job, FG, snapshot.cluster.start(job, FG, [0]).hosts, StartKind.IMMEDIATE)]


def one(number, arrival, runtime, size=1):
    return execution(number, arrival, [0.5] * size, runtime)


class TestFcfs(testtools.TestCase):
    def test_nothing_passes_the_head(self):
        found = jobs(4, "fcfs", (0, 3, 10), (1, 2, 5), (2, 1, 3))
        self.assertEqual([0, 10, 10], list(found["start"]))
        self.assertEqual([10, 15, 13], list(found["finish"]))

    def test_jobs_that_arrive_together_start_by_number(self):
        found = jobs(2, "fcfs", (5, 2, 10), (5, 1, 10), (5, 2, 10), (5, 1, 10))
        self.assertEqual([15, 25, 35, 45], list(found["finish"]))

    def test_gap_between_jobs(self):
        found = jobs(1, "fcfs", (0, 1, 10), (100, 1, 10))
        self.assertEqual([10, 110], list(found["finish"]))

    def test_fractions_of_a_second(self):
        found = jobs(1, "fcfs", (0.25, 1, 0.5), (0.5, 1, 0.125))
        self.assertEqual([0.75, 0.875], list(found["finish"]))

    def test_job_that_arrives_just_before_an_end_does_not_wait_for_it(self):
        found = jobs(3, "fcfs", (0, 1, 10), (9.5, 1, 3), (9.9999, 1, 3))
        self.assertEqual([0, 9.5, 9.9999], list(found["start"]))

    def test_jobs_that_arrive_almost_together(self):
        found = jobs(3, "fcfs", (0, 1, 10), (0.0001, 1, 3), (0.0002, 1, 3))
        self.assertEqual(list(found["arrival"]), list(found["start"]))


class TestEasy(testtools.TestCase):
    def backfilled(self, estimate, head=4):
        """Starts of a head that waits for 10 and of a job of one slot that arrives at 2."""
        found = jobs(4, "easy", (0, 3, 10), (1, head, 5), (2, 1, 3, estimate))
        return list(found["start"])

    def test_estimate_ends_when_the_head_starts(self):
        self.assertEqual([0, 10, 2], self.backfilled(8))

    def test_estimate_ends_later(self):
        self.assertEqual([0, 10, 15], self.backfilled(9))

    def test_head_leaves_a_slot(self):
        self.assertEqual([0, 10, 2], self.backfilled(1000, head=3))

    def test_reservation_follows_the_estimates_and_not_the_run_times(self):
        found = jobs(4, "easy", (0, 3, 10, 20), (1, 4, 5), (2, 1, 18))
        # It is let in until 20, when the head is expected to start; that could have at 10.
        self.assertEqual([0, 20, 2], list(found["start"]))
        self.assertEqual(["immediate", "reserved", "backfilled"], list(found["how"]))

    def test_job_that_overran_its_estimate_is_expected_to_end_any_moment(self):
        found = jobs(2, "easy", (0, 1, 50, 10), (1, 2, 5), (20, 1, 1))
        self.assertEqual([50, 55, 56], list(found["finish"]))


class TestPreemption(testtools.TestCase):
    def test_evicted_job_keeps_its_work_and_pays_for_its_restore(self):
        found = jobs(4, "cmbf", (0, 2, 10), (1, 4, 10), (2, 2, 30))
        # 3 is backfilled at 2, evicted by 2 at 10, restored at 20 with 22 s to go.
        self.assertEqual([0, 10, 2], list(found["start"]))
        self.assertEqual([10, 20, 20 + 20 + 22], list(found["finish"]))
        self.assertEqual([0, 0, 1], list(found["evictions"]))
        self.assertEqual([0, 0, 1], list(found["migrations"]))
        self.assertEqual([0, 0, 0], list(found["kills"]))
        self.assertEqual([0, 0, 0], list(found["lost_time"]))
        self.assertEqual(["immediate", "immediate", "backfilled"], list(found["how"]))

    def test_migration_that_is_free(self):
        found = jobs(4, "cmbf", (0, 2, 10), (1, 4, 10), (2, 2, 30), migration_cost=0.0)
        self.assertEqual([10, 20, 42], list(found["finish"]))

    def test_only_the_head_evicts_in_ambf(self):
        rows = (0, 2, 100), (1, 4, 10), (2, 1, 20), (3, 2, 10), (4, 1, 100)
        # At 22, job 3 leaves one slot idle; 5 holds another, which 4 takes, although 2 waits.
        found = jobs(4, "cmbf", *rows)
        self.assertEqual([100, 110, 22, 32, 164], list(found["finish"]))
        self.assertEqual([0, 0, 0, 0, 2], list(found["evictions"]))
        # At 100, 2 evicts 5 in both.
        found = jobs(4, "ambf", *rows)
        self.assertEqual([100, 110, 22, 120, 134], list(found["finish"]))
        self.assertEqual([0, 0, 0, 0, 1], list(found["evictions"]))

    def test_smallest_of_those_collected_is_spared(self):
        # At 10, two of 5 slots are idle. 2 needs two more; 4 and 3 hold three: 4 may keep its own.
        found = jobs(5, "cmbf", (0, 2, 10), (1, 4, 10), (2, 2, 30), (3, 1, 30))
        self.assertEqual([10, 20, 20 + 20 + 22, 33], list(found["finish"]))
        self.assertEqual([0, 0, 1, 0], list(found["evictions"]))


class TestEvents(testtools.TestCase):
    def passes(self, name, nodes, *executions):
        policy = Observed(name)
        done = run(policy, Nodes(nodes), *executions)
        return policy.passes, {number: job.finish for number, job in done.items()}

    def test_all_of_one_instant_are_one_pass(self):
        passes, finishes = self.passes(
            "fcfs", 2, one(1, 0, 10), one(2, 4, 6), one(3, 10, 5), one(4, 10, 7), one(5, 10, 1)
        )
        joined = Event.ARRIVAL | Event.FOREGROUND
        self.assertEqual(
            [
                (0, Event.ARRIVAL),
                (4, Event.ARRIVAL),
                (10, joined),
                (15, Event.FOREGROUND),
                (16, Event.FOREGROUND),
                (17, Event.FOREGROUND),
            ],
            passes,
        )
        self.assertEqual({1: 10, 2: 10, 3: 15, 4: 17, 5: 16}, finishes)

    def test_job_that_ends_as_another_arrives_makes_room_for_it(self):
        _passes, finishes = self.passes("fcfs", 1, one(1, 0, 10), one(2, 10, 10))
        self.assertEqual({1: 10, 2: 20}, finishes)

    def test_no_preemption_of_a_job_that_ends_at_that_instant(self):
        found = jobs(2, "cmbf", (0, 1, 10), (1, 2, 5), (2, 1, 8))
        self.assertEqual([10, 15, 10], list(found["finish"]))
        self.assertEqual(0, found["evictions"].sum())

    def test_tiers_are_told_apart(self):
        # 2 runs below 1 at half speed.
        passes, _finishes = self.passes("cmcbf", 2, one(1, 0, 20, size=2), one(2, 1, 4, size=2))
        self.assertEqual([(9, Event.BACKGROUND), (20, Event.FOREGROUND)], passes[2:])

    def test_both_tiers_at_one_instant(self):
        passes, _finishes = self.passes("cmcbf", 2, one(1, 0, 9, size=2), one(2, 1, 4, size=2))
        self.assertEqual([(9, Event.FOREGROUND | Event.BACKGROUND)], passes[2:])


class TestRunTimeNought(testtools.TestCase):
    def test_ends_when_it_starts(self):
        for policy in sorted(policies.POLICIES):
            found = jobs(2, policy, (3, 2, 0), (5, 1, 10), (6, 1, 0))
            self.assertEqual([3, 15, 6], list(found["finish"]), policy)

    def test_waits_for_its_slots(self):
        found = jobs(2, "fcfs", (0, 2, 10), (3, 2, 0), (4, 2, 0), (5, 1, 5))
        self.assertEqual([10, 10, 10, 15], list(found["finish"]))

    def test_many_at_one_instant(self):
        for policy in sorted(policies.POLICIES):
            found = jobs(3, policy, *([(7, 3, 0)] * 20))
            self.assertEqual({7}, set(found["finish"]), policy)


class TestJobsAsTheyEnd(testtools.TestCase):
    def test_arrivals_are_asked_for_one_ahead(self):
        asked = []

        def arrivals():
            for number in range(1, 6):
                asked.append(number)
                yield one(number, 10 * number, 1)

        events = engine.run(arrivals(), policies.get("fcfs"), Counted(1), RunningJobs(20.0))
        self.assertEqual(1, next(events).job.number)
        self.assertEqual([1, 2], asked)
        self.assertEqual([2, 3, 4, 5], [done.job.number for done in events])

    def test_without_jobs_there_is_nothing_to_do(self):
        self.assertEqual({}, run("easy", Counted(3)))


class TestFaults(testtools.TestCase):
    def test_jobs_that_wait_for_ever(self):
        stuck = self.assertRaises(engine.Stuck, run, Idle(), Nodes(2), one(1, 0, 5), one(2, 1, 5))
        self.assertEqual("2 jobs wait and 0 run for ever under idle", str(stuck))

    def test_job_that_is_larger_than_the_cluster(self):
        self.assertRaises(engine.Stuck, run, "fcfs", Nodes(2), one(1, 0, 5, size=3))

    def test_jobs_that_never_advance(self):
        rates = {"loss": (1, 1), "eff_parallel": (0, 0, 0, 0)}
        stuck = self.assertRaises(
            engine.Stuck, jobs, 2, "cmcbf", (0, 2, 5), (1, 2, 5), reading=rates
        )
        self.assertEqual("0 jobs wait and 2 run for ever under cmcbf", str(stuck))

    def test_jobs_that_ended_before_are_given(self):
        events = engine.run(
            iter([one(1, 0, 5), one(2, 1, 5, size=2)]),
            policies.get("fcfs"),
            Nodes(1),
            RunningJobs(0.0),
        )
        self.assertEqual(1, next(events).job.number)
        self.assertRaises(engine.Stuck, next, events)

    def test_decision_that_does_not_fit(self):
        self.assertRaises(OutOfSlots, run, Greedy(), Nodes(1), one(1, 0, 5), one(2, 1, 5))


class TestGrowth(testtools.TestCase):
    """The cost of an event depends on the jobs that are there, not on those that were."""

    CYCLES = 150
    #: A cycle of jobs with which every policy is done before the next: some wait, some are evicted.
    CYCLE = ((0, 3, 40), (5, 4, 30), (6, 1, 25), (7, 2, 20), (30, 4, 10), (31, 1, 60), (32, 2, 15))
    LENGTH = 600

    def arrivals(self):
        for cycle in range(self.CYCLES):
            for number, (at, size, runtime) in enumerate(self.CYCLE, cycle * len(self.CYCLE) + 1):
                cpu = [0.9 - 0.1 * (index + number % 3) for index in range(size)]
                yield execution(number, cycle * self.LENGTH + at, cpu, runtime, 2 * runtime)

    def measure(self, name, cluster):
        """Function calls up to each decision, and what is kept in memory at some of them."""
        calls, sizes, count = [], [], 0
        running = RunningJobs(20.0) if policies.get(name).tiers == 1 else running_on(cluster, PLAIN)

        def profile(_frame, event, _argument):
            nonlocal count
            if event in ("call", "c_call"):
                count += 1

        def look(snapshot):
            calls.append(count)
            if len(calls) % 8 == 0:
                sys.setprofile(None)
                sizes.append(len(pickle.dumps((snapshot.cluster, snapshot.queue, running))))
                sys.setprofile(profile)

        policy, before = Observed(name, look), sys.getprofile()
        sys.setprofile(profile)
        try:
            done = sum(1 for _job in engine.run(self.arrivals(), policy, cluster, running))
        finally:
            sys.setprofile(before)
        self.assertEqual(self.CYCLES * len(self.CYCLE), done)
        return calls, sizes

    def check(self, name, cluster):
        calls, sizes = self.measure(name, cluster)
        third = len(calls) // 3
        first = (calls[third] - calls[0]) / third
        last = (calls[-1] - calls[-1 - third]) / third
        self.assertLess(last / first, 1.05, f"{name}: {first} calls an event, then {last}")
        self.assertGreater(last / first, 0.95, "the workload is not the same all the time")
        third = len(sizes) // 3
        # Ends that are no longer expected are dropped now and then only: 40 kB at most.
        self.assertLess(max(sizes[-third:]), 1.1 * max(sizes[:third]) + 40_000, name)

    def test_one_tier(self):
        for name in ("easy", "cmbf"):
            self.check(name, Counted(5))

    def test_nodes(self):
        for name in ("amcbf", "acfcfs"):
            self.check(name, Nodes(5))

    def test_hosts(self):
        self.check("ktier-cmbf", Hosts([Host("a", 2, 3), Host("b", 3, 2)]))
