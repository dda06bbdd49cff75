"""The state of a queue can be taken at any time while a manager works, and is never contradictory.

It reads the database, Placement and Nova as they are between any two polls, with actions under way.
"""

import json
import random
from collections import Counter

from sqlalchemy import select

from nova_twotier.core import queue_state
from nova_twotier.core.prediction.calibration import LEAST
from nova_twotier.db import drains, queue_policy
from nova_twotier.db.models import Prediction
from nova_twotier.db.states import OVER, JobState, Preemption
from nova_twotier.manager.queue_state import take
from nova_twotier.sim import what_if
from tests.functional.manager_case import InMemoryTestCase
from tests.unit.manager import builders

JOBS = 14
STARTED = (JobState.STARTING, JobState.RESTORING)


class TestAtAnyTime(InMemoryTestCase):
    def others(self, at):
        """Between two polls: Nova is doing what the last one asked for."""
        opened = {job.number: job for job in self.store.jobs() if job.state not in OVER}
        before = dict(self.ledger.consumers), self.ledger_generations()
        taken = take(self.store, self.nova, self.ledger, self.options, "default", lambda: self.now)
        self.assertEqual(before, (dict(self.ledger.consumers), self.ledger_generations()))
        # Reading it checks that no slot is given twice.
        state = queue_state.load(json.loads(queue_state.text(taken.state)))
        self.assertEqual(taken.state, state)
        known = {each.job.number: each for each in state.jobs}
        self.assertLessEqual(known.keys(), opened.keys())
        for number, job in opened.items():
            if job.state == JobState.QUEUED and not job.requested_action:
                self.assertIn(number, known)
            if number in known and known[number].tier is not None:
                self.assertEqual(job.size, len(known[number].hosts))
                self.seen_starting += job.state in STARTED
        # All of them get their turn and end: nothing that is about to leave stays in the way.
        expected = what_if.expect(state)
        self.assertTrue(all(each.finish < 1e9 for each in expected.values()), expected)
        self.taken += 1

    def ledger_generations(self):
        return {uuid: provider.generation for uuid, provider in self.ledger.providers.items()}

    def run_(self, policy, seed):
        self.taken = self.seen_starting = 0
        self.cloud(seed)
        draw = random.Random(seed)
        arrivals = [
            (
                at,
                draw.randint(1, self.HOSTS * self.SLOTS),
                draw.choice([0.4, 0.7, 0.99]),
                draw.choice(list(Preemption)),
            )
            for at in sorted(draw.randint(0, 35) for _job in range(JOBS))
        ]
        lives = [draw.randint(1, 12) for _job in range(JOBS)]
        self.play(policy, arrivals, lives)
        self.assertGreater(self.taken, 30)
        self.assertGreater(self.seen_starting, 0)

    def test_amcbf(self):
        self.run_("amcbf", 1)

    def test_acfcfs(self):
        self.run_("acfcfs", 2)


class TestAsPredicted(InMemoryTestCase):
    """What-if answers about the present queue what its manager predicts."""

    def setUp(self):
        super().setUp()
        self.options = builders.options(
            attempts=4,
            boot_grace=3.0,
            host_interval=1e9,
            prediction_interval=20.0,
            estimator="sdpn",
        )
        self.cloud(seed=1)

    def submit(self, size, cpu, **values):
        values = {"at": self.now, "project_id": "p", "user_id": "ann", **values}
        return self.store.submit(size, [cpu] * size, **values).number

    def predicted(self):
        """Start and end of each job as the manager predicted them now."""
        with self.store.reading() as session:
            rows = session.scalars(select(Prediction).where(Prediction.made_at == self.now)).all()
        return {row.job: (row.start or self.now, row.finish) for row in rows}

    def expected(self):
        """The same as what-if expects it of a snapshot that is taken now."""
        now = lambda: self.now  # noqa: E731
        taken = take(self.store, self.nova, self.ledger, self.options, "default", now)
        state = queue_state.load(json.loads(queue_state.text(taken.state)))
        found = what_if.expect(state, state.measured.estimator)
        times = {n: (self.now + each.start, self.now + each.finish) for n, each in found.items()}
        return state, times, found

    def check_until(self, engine, predictions):
        """Compare at each of the next so many predictions."""
        compared = 0
        while compared < predictions:
            self.now += 1
            # Before the manager predicts at the same time: it knows no more than we.
            state, times, found = self.expected()
            engine.poll()
            self.nova.work()
            if not (predicted := self.predicted()):
                continue
            self.assertEqual(predicted.keys(), times.keys())
            for number, each in predicted.items():
                self.assertAlmostEqual(each[0], times[number][0], 3, (self.now, number))
                self.assertAlmostEqual(each[1], times[number][1], 3, (self.now, number))
            compared += 1
        return state, found

    def play_past(self, engine, count=20):
        """Jobs that end one after the other, of which some share slots."""
        numbers = [self.submit(3, 0.9, estimate=600.0) for _job in range(count)]
        lives, worked = [5 + number % 7 for number in numbers], [0] * count
        while not all(job.state in OVER for job in self.store.jobs()):
            self.rounds(engine, 1)
            self.guests(self.store.jobs(), worked, lives)

    def test_background_speed_history_and_intervals(self):
        engine = self.engine("amcbf")
        self.play_past(engine)
        running = self.submit(6, 0.6, estimate=5000.0, user_id="bob")
        shared = self.submit(4, 0.5, estimate=4000.0, user_id="eve")
        self.rounds(engine, 30)
        for size in (2, 4, 6, 3):
            self.submit(size, 0.9, estimate=600.0)
        self.rounds(engine, 8)
        state, found = self.check_until(engine, 4)
        jobs = {each.job.number: each for each in state.jobs}
        self.assertEqual(("fg", "bg"), (jobs[running].tier, jobs[shared].tier))
        self.assertLess(jobs[shared].done, 0.9 * jobs[shared].ran)
        self.assertEqual("sdpn", state.measured.estimator)
        self.assertGreaterEqual(len(state.measured.starts[0]), LEAST)
        with self.store.reading() as session:
            rows = {row.job: row for row in session.scalars(select(Prediction))}
        waiting = [number for number, each in found.items() if not each.running]
        self.assertGreater(len(waiting), 1)
        for number in waiting:
            for interval, low, high in (
                (found[number].start_interval, rows[number].start_low, rows[number].start_high),
                (found[number].finish_interval, rows[number].finish_low, rows[number].finish_high),
            ):
                self.assertAlmostEqual(low - self.now, interval.low, 3)
                self.assertAlmostEqual(high - self.now, interval.high, 3)
        # The manager has not predicted under this one yet.
        queue_policy.choose(self.store, "default", "easy")
        state, _times, found = self.expected()
        self.assertEqual(("easy", "amcbf"), (state.policy, state.measured.policy))
        self.assertTrue(all(found[number].start_interval is None for number in waiting))

    def test_a_policy_that_reserves(self):
        """EASY goes by when it expects the running jobs to end."""
        engine = self.engine("easy")
        self.options.policy = "easy"
        self.play_past(engine)
        self.submit(4, 0.6, estimate=500.0, user_id="bob")
        self.rounds(engine, 30)
        for size, estimate in ((6, 300.0), (1, 400.0), (1, 900.0), (2, 100.0)):
            self.submit(size, 0.9, estimate=estimate)
        self.rounds(engine, 8)
        self.check_until(engine, 3)

    def test_a_manager_that_does_not_predict(self):
        """A job in the background counts at its present speed, and its estimator is the set one."""
        self.options.prediction_interval = 0.0
        self.options.estimator = "hanzich"
        engine = self.engine("amcbf")
        self.submit(6, 0.6, estimate=5000.0)
        shared = self.submit(4, 0.5, estimate=4000.0)
        self.rounds(engine, 100)
        state, _times, _found = self.expected()
        [job] = [each for each in state.jobs if each.job.number == shared]
        self.assertAlmostEqual(job.ran / 2, job.done)
        self.assertEqual("hanzich", state.measured.estimator)
        self.assertEqual(((), ()), state.measured.starts)


class TestHosts(InMemoryTestCase):
    def state(self):
        now = lambda: self.now  # noqa: E731
        return take(self.store, self.nova, self.ledger, self.options, "default", now).state

    def test_hosts_that_take_nothing_new(self):
        """One is drained; one has left its aggregate, and a job is still there."""
        self.cloud(seed=1)
        engine = self.engine("fcfs")
        self.store.submit(6, [0.5] * 6, at=self.now)
        self.rounds(engine, 6)
        self.assertEqual([(3, True)] * 2, [(h.slots, h.enabled) for h in self.state().hosts])
        drains.drain(self.store, "host0", self.now, since=0.0)
        self.nova.left.add("host1")
        state = self.state()
        self.assertEqual([(3, False)] * 2, [(h.slots, h.enabled) for h in state.hosts])
        self.assertEqual((frozenset({1}), 3), (state.leaving, state.slots))
        self.assertEqual((3, 3), tuple(Counter(state.jobs[0].hosts)[host] for host in (0, 1)))
        self.assertEqual(state, queue_state.load(json.loads(queue_state.text(state))))
