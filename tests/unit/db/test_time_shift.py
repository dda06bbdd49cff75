"""Which stored times move with the wall clock, and that none was forgotten."""

import fixtures
import testtools
from sqlalchemy import Double, Float, select

from nova_twotier.core.prediction.present import Forecast
from nova_twotier.db import predictions, terms, time_shift
from nova_twotier.db.base import Base
from nova_twotier.db.models import Job, Place, PoolPrediction
from nova_twotier.db.prediction import JOB_TIMES, POOL_TIMES
from nova_twotier.db.predictions import Calibrations
from nova_twotier.db.states import JobState
from tests.new_databases import new_store

#: Times from which something in progress is measured: they are shifted.
SHIFTED = {
    "job": {"discarded_at", "run_since", "swapped_at", "warned_at", "not_before"},
    "prediction": set(JOB_TIMES),
    "pool_prediction": set(POOL_TIMES),
    "place": {"since", "until"},
    "leader": {"since"},
}
#: With the plans and the progress of open actions, see `time_shift`.
OF_ACTIONS = {"action": {"created_at", "begun_at"}}
#: Times of the past, and those that people have named: they stay.
KEPT = {
    "action": {"closed_at"},
    "array": {"submitted_at", "finished_at"},
    "delivery": {"due_at"},
    "drain": {"since", "until"},
    "event": {"at"},
    "job": {
        "begin_at",
        "eligible_at",
        "finished_at",
        "started_at",
        "submitted_at",
    },
    "leader": {"renewed_at", "polled_at"},
    "queue": {"changed_at"},
    "submission": {"since"},
}
#: Numbers that are no times: durations, shares, Mbit/s, sums.
NO_TIMES = {
    "job": {
        "bandwidth",
        "estimate",
        "own_place",
        "predicted",
        "queue_offset",
        "run_before",
        "used_until",
        "walltime",
    },
    "prediction": {"work", "ran"},
    "usage_day": {"background", "foreground", "lost"},
    "utilisation": {"lost"},
}


class TestTimes(testtools.TestCase):
    def test_each_column_of_numbers_is_known(self):
        found = {
            name: {column.name for column in table.columns if isinstance(column.type, Float)}
            for name, table in Base.metadata.tables.items()
        }
        known = {}
        for kind in (SHIFTED, OF_ACTIONS, KEPT, NO_TIMES):
            for table, columns in kind.items():
                known[table] = known.get(table, set()) | columns
        self.assertEqual({t: c for t, c in found.items() if c}, known)
        self.assertTrue(issubclass(Double, Float))

    def test_those_of_a_job_in_progress_are_shifted_and_no_others(self):
        directory = self.useFixture(fixtures.TempDir()).path
        store = new_store(self, f"sqlite:///{directory}/queue.sqlite")
        number = store.submit(1, [0.5], at=1000.0).number
        times = SHIFTED["job"] | KEPT["job"]
        for each in sorted(times):
            with store.transaction() as session:
                job = session.get(Job, number)
                job.state = JobState.RUNNING
                for name in times:
                    null = Job.__table__.columns[name].nullable
                    blank = None if null else 0.0
                    setattr(job, name, 1000.0 if name == each else blank)
            with store.transaction() as session:
                time_shift.shift(session, "default", 60.0)
            with store.reading() as session:
                found = session.scalar(select(getattr(Job, each)).where(Job.number == number))
            self.assertEqual(1060.0 if each in SHIFTED["job"] else 1000.0, found, each)

    def test_slots_that_are_held_are_not_billed_for_the_step(self):
        """Nor do those of a job that has begun anew count as lost."""
        directory = self.useFixture(fixtures.TempDir()).path
        store = new_store(self, f"sqlite:///{directory}/queue.sqlite")
        common = {"process": 0, "server": "s", "host": "h", "tier": "fg", "since": 1000.0}
        stays = [(1000.0, None), (1000.0, 1001.0)]
        expected = {
            ("a", JobState.RUNNING, None): [(940.0, None), (1000.0, 1001.0)],
            ("a", JobState.RUNNING, 1000.5): [(940.0, None), (940.0, 941.0)],
            ("a", JobState.FAILED, None): stays,
            ("b", JobState.RUNNING, None): stays,
        }
        numbers = {}
        for pool, state, discarded_at in expected:
            number = store.submit(1, [0.5], at=1.0, pool=pool).number
            numbers[number] = pool, state, discarded_at
            with store.transaction() as session:
                job = session.get(Job, number)
                job.state, job.discarded_at = state, discarded_at
                session.add_all(Place(job=number, until=until, **common) for _at, until in stays)
        with store.transaction() as session:
            time_shift.shift(session, "a", -60.0)
        with store.reading() as session:
            for number, key in numbers.items():
                rows = session.execute(
                    select(Place.since, Place.until).where(Place.job == number).order_by(Place.id)
                )
                self.assertEqual(expected[key], [tuple(row) for row in rows], key)
                discarded_at = session.get(Job, number).discarded_at
                self.assertEqual(key[2] and key[2] - 60.0, discarded_at)

    def test_a_start_before_the_step_is_compared_with_what_was_told_by_the_same_clock(self):
        """Its end comes after the step, and is compared by that clock."""
        store = new_store(self)
        number = store.submit(1, [0.5], at=1000.0).number
        forecast = Forecast(1100.0, 1200.0)
        told = predictions.Told(number, forecast, True, True, None, None, 0.0, 0.0)
        learned = Calibrations.load({})
        with store.transaction() as session:
            predictions.write(session, "default", 1000.0, [told], learned)
            session.add(
                PoolPrediction(
                    pool="default",
                    made_at=1000.0,
                    valid_until=1300.0,
                    estimator="sdpn",
                    calibration=learned.dump(),
                )
            )
        with store.transaction() as session:
            job = session.get(Job, number)
            job.state, job.started_at = JobState.RUNNING, 1100.0
        with store.transaction() as session:
            time_shift.shift(session, "default", 3600.0)
        with store.transaction() as session:
            job = session.get(Job, number)
            job.state, job.finished_at = JobState.FINISHED, 4800.0
        with store.transaction() as session:
            _estimator, learned = predictions.last_learned(session, "default")
            predictions.judge(session, "default", learned)
        for errors, _held in (learned.starts.state(), learned.finishes.state()):
            self.assertEqual((0.0,), errors)

    def test_the_leader_has_led_for_as_long_as_before(self):
        """By that, too, it is known whether a shift was committed."""
        store = new_store(self)
        for pool in ("a", "b"):
            terms.begin(store, pool, "me:1")
        with store.transaction() as session:
            before = {pool: time_shift.led_since(session, pool) for pool in ("a", "b", "c")}
            attempt = time_shift.Attempt(before["a"], -60.0)
            self.assertFalse(attempt.was_made(before["a"]))
            time_shift.shift(session, "a", -60.0)
        with store.transaction() as session:
            after = {pool: time_shift.led_since(session, pool) for pool in ("a", "b", "c")}
        self.assertEqual({**before, "a": before["a"] - 60.0}, after)
        self.assertTrue(attempt.was_made(after["a"]))
