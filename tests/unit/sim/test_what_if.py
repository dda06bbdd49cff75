"""What is expected of a queue: worked out by hand, and equal to what the simulator then does."""

import dataclasses
import json
import math

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import queue_state
from nova_twotier.core.cluster import Host
from nova_twotier.core.qos import Qos
from nova_twotier.core.queue_state import Measured, Server, changes, past_of
from nova_twotier.sim import trace_state, what_if
from nova_twotier.sim.scenario import InvalidScenario, Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads.workload import Workload
from tests.unit.core.queue_state.builders import BG, FG, small, states
from tests.unit.sim.run_builders import ONE_TIER, workload


def times(found):
    return {number: (each.start, each.finish) for number, each in found.items()}


class TestExpect(testtools.TestCase):
    def test_by_hand(self):
        found = what_if.expect(small(), "requested")
        self.assertEqual({1: (0.0, 100.0), 2: (100.0, 160.0)}, times(found))
        second = found[2]
        self.assertEqual((148.0, 208.0, FG, False), (*self.sums(second), second.running))
        self.assertEqual(("a", "a"), tuple(sorted(second.hosts)))

    def sums(self, expected):
        return expected.wait, expected.turnaround, expected.tier

    def test_a_policy_expects_ends_by_the_time_that_jobs_have_run(self):
        """Job 1 has done the work of 50 s in 120 s: EASY expects its end, and the head, in 30 s."""
        state, head = changes.add_job(changes.without_job(small(), 2), 4, 60.0)
        state, number = changes.add_job(state, 1, 40.0)
        self.assertEqual(0.0, what_if.expect(state, "requested")[number].start)
        first = dataclasses.replace(state.jobs[0], ran=120.0)
        state = dataclasses.replace(state, jobs=(first, *state.jobs[1:]))
        found = times(what_if.expect(state, "requested"))
        self.assertEqual({1: (0.0, 100.0), head: (100.0, 160.0), number: (160.0, 200.0)}, found)

    def test_a_pass_comes_first(self):
        """The new job passes job 2 under EASY, and shares slots under AMCBF."""
        state, number = changes.add_job(small(), 1, 90.0)
        self.assertEqual((0.0, 90.0), times(what_if.expect(state, "requested"))[number])
        state, number = changes.add_job(small("amcbf"), 2, 90.0)
        new = what_if.expect(state, "requested")[number]
        self.assertEqual((0.0, BG), (new.start, new.tier))
        self.assertIsNone(new.start_interval)

    def test_servers_stay(self):
        state = small(servers=(Server(FG, 1, 0.5),))
        self.assertEqual((100.0, 160.0), times(what_if.expect(state, "requested"))[2])
        state = dataclasses.replace(state, servers=(Server(FG, 1, 0.5), Server(BG, 0, 1.0)))
        self.assertEqual({1, 2}, what_if.expect(state, "historical").keys())

    def test_too_large_for_the_hosts(self):
        """It is in nobody's way, as the queue manager sees to; more hosts would help it."""
        state, number = changes.add_job(small("fcfs"), 6, 10.0)
        state, last = changes.add_job(state, 2, 10.0)
        found = times(what_if.expect(state, "requested"))
        self.assertEqual(((math.inf, math.inf), (100.0, 110.0)), (found[number], found[last]))
        more = times(what_if.expect(changes.add_hosts(state, 1), "requested"))
        self.assertEqual((100.0, 110.0), more[number])

    def test_past_jobs_teach(self):
        past = [past_of(n, 2, 60.0, "bob", wait=0.0, elapsed=6.0, work=6.0) for n in range(10, 15)]
        found = what_if.expect(small(past=tuple(past)))
        self.assertEqual(6.0, found[2].finish - found[2].start)

    def test_intervals_are_of_the_same_estimator_and_policy(self):
        errors = tuple(0.01 * index for index in range(-20, 21))
        state = small(measured=Measured("sdpn", "easy", (errors, ()), (errors, ())))
        found = what_if.expect(state)
        low, high = found[2].start_interval
        self.assertTrue(low < found[2].start < high, found[2])
        self.assertTrue(found[2].finish_interval.holds(found[2].finish))
        self.assertEqual((None, None), (found[1].start_interval, found[1].finish_interval))
        for other in (
            what_if.expect(small("fcfs", measured=state.measured)),
            what_if.expect(state, "hanzich"),
        ):
            self.assertEqual((None, None), (other[2].start_interval, other[2].finish_interval))

    @given(states())
    @settings(max_examples=50)
    def test_every_state_has_an_answer_for_every_job(self, state):
        found = what_if.expect(state)
        self.assertEqual({each.job.number for each in state.jobs}, found.keys())
        for each in found.values():
            self.assertLessEqual(0.0, each.start)
            self.assertLessEqual(each.start, each.finish)


class TestComparison(testtools.TestCase):
    def test_same_jobs_on_both_sides(self):
        before = what_if.expect(small(), "requested")
        other, _number = changes.add_job(small(), 6, 10.0)
        after = what_if.expect(other, "requested")
        first, second = what_if.outlooks([before, after])
        self.assertEqual((148.0, 148.0, 0), (first.wait, first.longest_wait, first.never))
        self.assertEqual(
            (148.0, (149.0 + 208.0) / 2, 1), (second.wait, second.turnaround, second.never)
        )
        self.assertEqual(what_if.Shift(0, 0, 0, 0), what_if.shift(before, after))
        self.assertEqual([], what_if.most_affected(before, after, 3))

    def test_what_moves(self):
        before = what_if.expect(small(), "requested")
        after = what_if.expect(changes.with_estimate(small(), 1, 90.0), "requested")
        self.assertEqual(what_if.Shift(1, 0, 2, 0), what_if.shift(before, after))
        self.assertEqual([1, 2], what_if.most_affected(before, after, 3))
        self.assertEqual([1], what_if.most_affected(before, after, 1))
        never = what_if.expect(changes.without_job(small(), 1), "requested")
        self.assertEqual(what_if.Shift(1, 0, 1, 0), what_if.shift(before, never))

    def test_every_policy(self):
        found = what_if.under_each_policy(small(), "requested", ["fcfs", "amcbf"])
        self.assertEqual(
            {"fcfs": 100.0, "amcbf": 0.0}, {n: each[2].start for n, each in found.items()}
        )


#: arrival, size, run time, on four nodes
ROWS = [(0, 3, 100), (10, 2, 50), (20, 4, 30), (30, 1, 60), (40, 1, 5), (45, 2, 20)]


class TestTraceState(testtools.TestCase):
    @given(
        st.lists(
            st.tuples(st.integers(0, 60), st.integers(1, 4), st.integers(1, 50)),
            min_size=1,
            max_size=12,
        ),
        st.integers(0, 80),
        st.sampled_from(ONE_TIER),
    )
    @settings(max_examples=60)
    def test_forecast_is_the_future(self, rows, later, policy):
        """With exact estimates, no slot is shared and nobody arrives later: it is what happens."""
        rows = sorted(rows)
        at = float(rows[0][0] + later)
        arrived = workload(4, *(row for row in rows if row[0] <= at))
        scenario = Scenario(policy, estimates="exact", migration_cost=0.0)
        future = simulate(arrived, scenario).jobs.set_index("job")
        left = future[future["finish"] > at]
        if left.empty and at > rows[-1][0]:
            whole = workload(4, *rows)
            self.assertRaises(InvalidScenario, trace_state.state_at, whole, scenario, at)
            return
        state = trace_state.state_at(workload(4, *rows), scenario, at)
        found = what_if.expect(state, "requested")
        self.assertEqual(set(left.index), found.keys())
        for number, row in left.iterrows():
            self.assertAlmostEqual(row["finish"] - at, found[number].finish)
            if row["start"] > at:
                self.assertAlmostEqual(row["start"] - at, found[number].start)

    def test_what_is_there(self):
        state = trace_state.state_at(workload(4, *ROWS), Scenario("fcfs"), 42.0)
        self.assertEqual([1, 2, 3, 4, 5], [each.job.number for each in state.jobs])
        self.assertEqual([2, 3, 4, 5], [each.job.number for each in state.waiting])
        self.assertEqual(
            (42.0, FG, 3), (state.jobs[0].done, state.jobs[0].tier, len(state.jobs[0].hosts))
        )
        self.assertEqual([(1, 2)] * 4, [(host.slots, host.tiers) for host in state.hosts])
        state = trace_state.state_at(workload(4, *ROWS), Scenario("fcfs"), 120.0)
        self.assertEqual([(1, 0.0, 100.0)], [(p.job.number, p.wait, p.work) for p in state.past])

    def test_deterministic_and_measured(self):
        rows = [(5 * n, 1 + n % 4, 10 + n % 7, 40) for n in range(60)]
        first, again = (
            trace_state.state_at(workload(4, *rows), Scenario("amcbf", seed=3), 290.0)
            for _ in range(2)
        )
        self.assertEqual(first, again)
        self.assertEqual(("sdpn", "amcbf"), (first.measured.estimator, first.measured.policy))
        self.assertGreater(len(first.measured.starts[0]), 10)

    def test_two_tiers_and_slots(self):
        scenario = Scenario("easy", slots=2)
        state = trace_state.state_at(workload(4, *ROWS), scenario, 42.0)
        self.assertEqual([Host("host0", 2), Host("host1", 2)], list(state.hosts))

    def test_refused(self):
        jobs = workload(4, (10, 1, 5))
        for words, scenario, at in (
            ("is only in the simulator", Scenario("easy++"), 20.0),
            ("has no network", Scenario("bgmbf", topology="fat-tree:4"), 20.0),
            (
                "estimates are 'last-two', which the estimator of what-if would predict anew",
                Scenario("easy", estimates="last-two"),
                20.0,
            ),
            ("the first job arrives at 10 s, which is after 9 s", Scenario("easy"), 9.0),
            (
                "all is over at 16 s: the last job arrives at 10 s, and the last one ends at 15 s",
                Scenario("easy"),
                16.0,
            ),
        ):
            error = self.assertRaises(InvalidScenario, trace_state.state_at, jobs, scenario, at)
            self.assertIn(words, str(error))

    def test_an_idle_moment_between_jobs_is_no_end(self):
        """Nor is a time after the last arrival while a job still waits or runs."""
        jobs = workload(4, (0, 1, 5), (100, 4, 50))
        self.assertEqual((), trace_state.state_at(jobs, Scenario("easy"), 50.0).jobs)
        self.assertEqual(1, len(trace_state.state_at(jobs, Scenario("easy"), 149.0).jobs))

    def test_classes_are_written_and_read(self):
        """The same answer from a file as at once: the urgent job is first, scavengers are last."""
        scenario = Scenario("amcbf", qos="urgent=0.4,scavenger=0.4", seed=1)
        state = trace_state.state_at(workload(4, *ROWS), scenario, 45.0)
        self.assertEqual(set(Qos), {each.job.qos for each in state.jobs})
        back = queue_state.load(json.loads(queue_state.text(state)))
        self.assertEqual(what_if.expect(state), what_if.expect(back))

    def test_users(self):
        jobs = workload(4, *ROWS).jobs
        owned = Workload("t", 4, tuple(each._replace(user=7) for each in jobs))
        state = trace_state.state_at(owned, Scenario("fcfs"), 42.0)
        self.assertEqual({"7"}, {each.user for each in state.jobs})
