"""Predictions of a manager on a fake Nova: what they say, and what is learned from what comes."""

import math

from nova_twotier.core.prediction.calibration import OFFSET
from nova_twotier.db.models import PoolPrediction, Prediction
from nova_twotier.db.prediction import ALL, NOTHING
from nova_twotier.db.predictions import Calibrations
from nova_twotier.db.states import OVER, JobState
from tests.functional.manager_case import InMemoryTestCase
from tests.unit.manager import builders

OPTIONS = builders.options(
    attempts=4,
    boot_grace=3.0,
    host_interval=1e9,
    prediction_interval=10.0,
    estimator="requested",
)


class TestPredictions(InMemoryTestCase):
    """Two hosts with three slots each; one round takes a second."""

    def setUp(self):
        super().setUp()
        self.options = OPTIONS
        self.cloud(seed=1)
        self.manager = self.engine("fcfs")

    def submit(self, size, estimate):
        return self.store.submit(size, [0.5], at=self.now, estimate=estimate).number

    def of(self, number):
        with self.store.reading() as session:
            return session.get(Prediction, number)

    def learned(self):
        with self.store.reading() as session:
            return Calibrations.load(session.get(PoolPrediction, "default").calibration)

    def serve(self, lives):
        """Until all jobs are over; a job's guests stop after so many rounds of work."""
        worked = [0] * len(lives)
        while not all(job.state in OVER for job in self.store.jobs()):
            self.rounds(self.manager, 1)
            self.guests(self.store.jobs(), worked, lives)

    def test_what_the_forward_run_says(self):
        """Worked out by hand: each runs for as long as it asked for, one after the other."""
        first = self.submit(2, 100)
        self.rounds(self.manager, 8)
        second, third = self.submit(6, 50), self.submit(3, 20)
        self.rounds(self.manager, 15)
        begun = self.store.job(first).started_at
        self.assertEqual((None, begun + 100), (self.of(first).start, self.of(first).finish))
        for number, start, finish, after in (
            (second, begun + 100, begun + 150, first),
            (third, begun + 150, begun + 170, second),
        ):
            told = self.of(number)
            self.assertEqual((start, finish, after), (told.start, told.finish, told.starts_after))
            self.assertEqual((None, None), (told.start_low, told.finish_high))
        # The head would fit the four idle slots; the job behind it would pass it.
        self.assertEqual((4, None), (self.of(second).smaller, self.of(third).smaller))
        self.assertEqual(NOTHING, self.of(second).judged)

    def test_predictions_are_made_anew_and_the_first_one_is_kept(self):
        running, waiting = self.submit(6, 100), self.submit(6, 50)
        self.rounds(self.manager, 20)
        before = self.of(waiting)
        self.assertEqual(JobState.RUNNING, self.store.job(running).state)
        self.rounds(self.manager, 120)  # it runs for longer than it asked for
        after = self.of(waiting)
        self.assertGreater(after.start, before.start)
        self.assertGreater(after.made_at, before.made_at)
        self.assertEqual(before.first_made_at, after.first_made_at)
        self.assertEqual(before.first_start, after.first_start)

    def test_starts_and_ends_teach_how_far_predictions_are_off(self):
        first, second = self.submit(6, 100), self.submit(6, 100)
        self.rounds(self.manager, 12)
        # What runs when it is first predicted is not judged.
        self.assertEqual(([ALL, NOTHING]), [self.of(first).judged, self.of(second).judged])
        self.serve([20, 10])
        self.submit(6, 10)  # something to decide about
        self.rounds(self.manager, 12)
        self.assertEqual(ALL, self.of(second).judged)
        [[early], []] = self.learned().starts.state()
        self.assertLess(early, 0)
        [[earlier], []] = self.learned().finishes.state()
        self.assertLess(earlier, early)

    def test_a_cancelled_job_teaches_nothing(self):
        self.submit(6, 100)
        waiting = self.submit(6, 100)
        self.rounds(self.manager, 12)
        self.store.request_action(waiting, "cancel")
        self.rounds(self.manager, 30)
        self.assertEqual(ALL, self.of(waiting).judged)
        self.assertEqual(((), ()), self.learned().starts.state())

    def test_what_a_job_was_told_before_it_was_held_teaches_nothing(self):
        """A held job has no prediction; once it is released, it is predicted as a new one."""
        self.submit(6, 30)
        waiting = self.submit(6, 100)
        self.rounds(self.manager, 12)
        self.assertLess(self.of(waiting).first_start, 60)
        self.store.hold(waiting, True)
        self.rounds(self.manager, 300)
        self.store.hold(waiting, False)
        self.rounds(self.manager, 12)
        told = self.of(waiting)
        self.assertGreater(told.first_made_at, 300)
        self.serve([0, 20])
        self.submit(6, 10)  # something to decide about
        self.rounds(self.manager, 12)
        [[error], []] = self.learned().starts.state()
        self.assertLess(abs(error), math.log(1 + 60 / OFFSET))

    def test_what_was_learned_survives_the_manager(self):
        for _job in range(13):
            self.submit(6, 30)
        lives, worked = [5] * 12 + [1000], [0] * 13
        while sum(job.state in OVER for job in self.store.jobs()) < 12:
            self.rounds(self.manager, 1)
            self.guests(self.store.jobs(), worked, lives)
        self.rounds(self.manager, 12)
        before = self.learned()
        self.assertGreaterEqual(len(before.starts.state()[0]), 12)
        # It is not closed: it was killed. The next one knows no more than the database.
        self.manager = self.engine("fcfs")
        waiting = self.submit(6, 30)
        self.rounds(self.manager, 12)
        self.assertEqual(before.starts.state(), self.learned().starts.state())
        told = self.of(waiting)
        self.assertLess(told.start_low, told.start)
        self.assertGreaterEqual(told.start_high, told.start)
