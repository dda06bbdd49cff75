"""Rates of samples, and the order of turns."""

import itertools
import os

import fixtures
import testtools

from nova_twotier.calibration import experiment, mechanisms
from nova_twotier.calibration.experiment import BACKGROUND, FOREGROUND, Plan, Rate, rate
from nova_twotier.calibration.layouts import LAYOUTS, possible
from nova_twotier.calibration.loads import Kind, Sample
from nova_twotier.calibration.processes import ProcessJob


class TestRate(testtools.TestCase):
    def test_whole_steps_over_their_own_time(self):
        found = rate(Sample(100, 10.0, 3.0), Sample(150, 11.0, 3.4), resumed=9.0, window=1.2)
        self.assertEqual(Rate(50.0, 0.4), Rate(found.steps, round(found.cpu, 9)))

    def test_time_in_which_the_job_was_stopped_does_not_count(self):
        found = rate(Sample(100, 5.0, 3.0), Sample(150, 11.0, 3.5), resumed=10.0, window=1.0)
        self.assertEqual(50.0, found.steps)

    def test_a_job_that_hardly_runs(self):
        found = rate(Sample(100, 10.0, 3.0), Sample(101, 10.1, 3.01), resumed=9.0, window=2.0)
        self.assertEqual(0.5, found.steps)
        self.assertEqual(0.0, rate(Sample(1, 1, 1), Sample(1, 1, 1), 0.0, 2.0).steps)


class TestLayouts(testtools.TestCase):
    def test_who_has_which_cpu(self):
        cpus = (2, 3)
        self.assertEqual(
            {
                "single": ([(2, 3)], (2,)),
                "parallel": ([(2, 3)], (2, 3)),
                "spread": ([(2,), (3,)], (2, 3)),
            },
            {
                name: (layout.foreground(cpus), layout.background(cpus))
                for name, layout in LAYOUTS.items()
            },
        )

    def test_parallel_jobs_need_two_cpus(self):
        self.assertEqual(["single"], [each.name for each in possible([0])])
        self.assertEqual(list(LAYOUTS), [each.name for each in possible([0, 1])])


class TestOrder(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.plan = Plan(
            cpus=(min(os.sched_getaffinity(0)),),
            utilisations=(0.1, 0.2),
            layouts=(LAYOUTS["single"],),
            mechanisms=tuple(map(mechanisms.get, ("equal", "nice", "cpu.idle"))),
            repetitions=2,
            seconds=0.001,
            background=0.5,
        )
        # The control groups are not what is tested here.
        self.useFixture(fixtures.MonkeyPatch(f"{mechanisms.__name__}.apply", lambda *_args: None))
        kind = Kind("processes", ProcessJob, scan=0.01)
        self.turns = list(experiment.Experiment(self.plan, None, kind).run())
        self.assertEqual(self.plan.turns, len(self.turns))

    def test_references_enclose_every_turn_of_both(self):
        whos = [turn.who for turn in self.turns[: len(self.turns) // 2]]
        references = [FOREGROUND, BACKGROUND]
        for begin in range(0, len(whos), 3):
            self.assertEqual(references, whos[begin : begin + 2])
        shared = whos[2::3]
        for repetition in (shared[:3], shared[3:]):
            self.assertEqual({"equal", "nice", "cpu.idle"}, set(repetition))

    def test_who_is_stopped_is_not_measured(self):
        for turn in self.turns:
            self.assertEqual(turn.who != BACKGROUND, bool(turn.front), turn)
            self.assertEqual(turn.who != FOREGROUND, bool(turn.back), turn)

    def test_a_turn_has_the_number_of_the_references_before_it(self):
        for _utilisation, group in itertools.groupby(self.turns, lambda turn: turn.utilisation):
            numbers = [turn.number for turn in group]
            self.assertEqual([each for each in range(7) for _turn in range(3)][:-1], numbers)
