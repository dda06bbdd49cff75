"""Which process was on which slot."""

from itertools import pairwise

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.nodes import Nodes
from nova_twotier.sim.recorder import Recorder, Stay
from tests.unit.sim.run_builders import Scene, execution, running_on


def make_scene(cluster, slots=1):
    recorder = Recorder(slots)
    return Scene(cluster, running_on(cluster, recorder=recorder)), recorder


class TestStays(testtools.TestCase):
    def test_each_process_has_its_own(self):
        scene, recorder = make_scene(Nodes(4))
        scene.start(5, FG, [3, 1], execution(1, 0, [0.5, 0.4], 10))
        scene.finishes()
        self.assertEqual(
            [Stay(1, 0, 3, FG, 5, 15), Stay(1, 1, 1, FG, 5, 15)], list(recorder.stays())
        )

    def test_change_of_tier_begins_another(self):
        scene, recorder = make_scene(Nodes(1))
        job = execution(1, 0, [0.5], 10)
        scene.start(0, BG, [0], job)
        scene.move(4, job, FG, [0])
        scene.finishes()
        self.assertEqual(
            [Stay(1, 0, 0, BG, 0, 4), Stay(1, 0, 0, FG, 4, 10)], list(recorder.stays())
        )

    def test_migration_is_spent_on_the_new_slot(self):
        scene, recorder = make_scene(Nodes(2))
        job = execution(1, 0, [0.5], 10)
        scene.start(0, BG, [0], job)
        scene.move(4, job, FG, [1])
        scene.finishes()
        self.assertEqual(
            [Stay(1, 0, 0, BG, 0, 4), Stay(1, 0, 1, FG, 4, 30)], list(recorder.stays())
        )

    def test_waiting_is_no_stay(self):
        scene, recorder = make_scene(Nodes(1))
        job = execution(1, 0, [0.5], 10)
        scene.start(0, FG, [0], job)
        scene.kill(4, job)
        scene.start(6, FG, [0], job)
        scene.finishes()
        self.assertEqual(
            [Stay(1, 0, 0, FG, 0, 4), Stay(1, 0, 0, FG, 6, 16)], list(recorder.stays())
        )

    def test_what_takes_no_time_is_left_out(self):
        scene, recorder = make_scene(Nodes(1))
        scene.start(3, FG, [0], execution(1, 0, [0.5], 0))
        scene.finishes()
        self.assertEqual([], list(recorder.stays()))

    def test_what_still_runs_is_not_there_yet(self):
        scene, recorder = make_scene(Nodes(1))
        scene.start(3, FG, [0], execution(1, 0, [0.5], 10))
        self.assertEqual([], list(recorder.stays()))


class TestSlotsOfAHost(testtools.TestCase):
    def test_lowest_free_slot_is_taken(self):
        scene, recorder = make_scene(Hosts([Host("a", 2), Host("b", 2)]), slots=2)
        scene.start(0, FG, [1, 1], execution(1, 0, [0.5, 0.4], 10))
        scene.start(1, FG, [0], execution(2, 0, [0.5], 5))
        scene.start(2, FG, [0], execution(3, 0, [0.5], 10))
        scene.start(6, FG, [0], execution(4, 0, [0.5], 10))
        scene.finishes()
        slots = [(stay.job, stay.slot) for stay in recorder.stays()]
        self.assertEqual([(1, 2), (1, 3), (2, 0), (3, 1), (4, 0)], slots)

    def test_tiers_do_not_take_slots_from_each_other(self):
        scene, recorder = make_scene(Hosts([Host("a", 2)]), slots=2)
        scene.start(0, FG, [0, 0], execution(1, 0, [0.5, 0.4], 10))
        scene.start(0, BG, [0, 0], execution(2, 0, [0.5, 0.4], 10))
        scene.finishes()
        self.assertEqual({0: 2, 1: 2}, _counts(stay.slot for stay in recorder.stays()))

    def test_several_background_processes_share_a_slot(self):
        scene, recorder = make_scene(Hosts([Host("a", 2, tiers=4)]), slots=2)
        scene.start(0, BG, [0] * 6, execution(1, 0, [0.1] * 6, 10))
        scene.finishes()
        self.assertEqual({0: 3, 1: 3}, _counts(stay.slot for stay in recorder.stays()))

    @given(
        st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), max_size=30), st.integers(1, 4)
    )
    def test_no_two_on_one_slot(self, times, slots):
        """As many at a time as a host has slots: each finds one."""
        cluster = Hosts([Host("a", slots)])
        scene, recorder = make_scene(cluster, slots)
        now = 0
        for number, (gap, runtime) in enumerate(times, 1):
            now += gap
            scene.until(now)
            if cluster.idle[FG]:
                scene.start(now, FG, [0], execution(number, 0, [0.5], runtime))
        scene.finishes()
        stays = list(recorder.stays())
        self.assertEqual(sorted(stays, key=lambda stay: stay.begin), stays)
        for slot in range(slots):
            there = [stay for stay in stays if stay.slot == slot]
            for before, after in pairwise(there):
                self.assertTrue(before.end <= after.begin)


def _counts(values):
    values = list(values)
    return {value: values.count(value) for value in values}
