"""Who may evict under `amcbf-waiting-head`, where AMCBF decides differently."""

import pandas
import testtools
from hypothesis import given, settings

from nova_twotier.core.actions import BG, FG, Evict, Kill, Move, Start
from nova_twotier.core.nodes import Nodes
from nova_twotier.core.snapshot import Event, Snapshot
from nova_twotier.sim import variants
from nova_twotier.sim.simulation import simulate
from tests.unit.core.builders import job
from tests.unit.sim.run_builders import scenarios, workloads

POLICIES = ("amcbf", "amcbf-waiting-head")


class TestWaitingHead(testtools.TestCase):
    def foreground(self, foreground, background, waiting):
        """By policy: the jobs in the foreground of four nodes after a job has left it."""
        found = {}
        for name in POLICIES:
            nodes = Nodes(4)
            for each in foreground:
                nodes.start(each, FG)
            for each in background:
                nodes.start(each, BG)
            snapshot = Snapshot(nodes)
            for each in waiting:
                snapshot.queue.add(each)
            there = {each.number for each in foreground}
            for action in variants.get(name).schedule(snapshot, Event.FOREGROUND, 10.0):
                if isinstance(action, Start | Move) and action.tier is FG:
                    there.add(action.job.number)
                elif isinstance(action, Evict | Kill | Move):
                    there.discard(action.job.number)
            found[name] = there
        return found

    def test_an_earlier_job_in_the_background_does_not_evict(self):
        found = self.foreground([job(1, 2), job(5, 2)], [job(2, 2)], [job(3, 2)])
        self.assertEqual({"amcbf": {1, 2}, "amcbf-waiting-head": {1, 3}}, found)

    def test_one_that_cannot_does_not_keep_the_waiting_one_from_it(self):
        found = self.foreground([job(1, 2), job(5, 2)], [job(2, 3)], [job(3, 2)])
        self.assertEqual({"amcbf": {1, 5}, "amcbf-waiting-head": {1, 3}}, found)

    def test_only_the_first_of_those_that_wait_does(self):
        found = self.foreground([job(1, 2), job(5, 2)], [], [job(2, 4), job(3, 2)])
        self.assertEqual({1, 5}, found["amcbf-waiting-head"])

    def test_idle_slots_go_by_arrival(self):
        found = self.foreground([job(1, 2)], [job(2, 2)], [job(3, 2)])
        self.assertEqual({1, 2}, found["amcbf-waiting-head"])

    def test_nobody_evicts_an_earlier_arrival(self):
        found = self.foreground([job(1, 2), job(2, 2)], [], [job(3, 2)])
        self.assertEqual({1, 2}, found["amcbf-waiting-head"])

    def test_no_more_leave_than_have_to(self):
        """2 needs three of the four slots: 4 leaves for it, and 5 stays, though it came later."""
        found = self.foreground([job(4, 3), job(5, 1)], [], [job(2, 3)])
        self.assertEqual({2, 5}, found["amcbf-waiting-head"])

    @settings(max_examples=60)
    @given(workloads(), scenarios(("amcbf-waiting-head",)))
    def test_runs_end_and_are_the_same_again(self, workload, scenario):
        first, again = simulate(workload, scenario), simulate(workload, scenario, record=True)
        pandas.testing.assert_frame_equal(first.jobs, again.jobs)
        self.assertEqual(len(workload.jobs), len(first.jobs) + len(first.rejected))
