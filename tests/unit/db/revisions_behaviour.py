"""What changes the revision and what does not, on whatever database."""

import time

from nova_twotier.db import revisions, submissions, terms
from nova_twotier.db.models import Event, Leader, PoolPrediction
from nova_twotier.db.purge import purge
from nova_twotier.db.states import JobState

LEASE = 10.0


class RevisionsBehaviour:
    """Tests of `self.store`, which is empty."""

    def revision(self):
        with self.store.reading() as session:
            return revisions.read(session, LEASE)

    def changes(self, what, *args):
        """Whether something changes the revision."""
        before = self.revision()
        self.assertEqual(before, self.revision())
        what(*args)
        return before != self.revision()

    def written(self, term, lock=True, pool="default"):
        with self.store.transaction() as session:
            terms.require(session, pool, term, lock)

    def set_leader(self, **values):
        with self.store.transaction() as session:
            leader = session.get(Leader, "default")
            for name, value in values.items():
                setattr(leader, name, value)

    def event(self, number):
        with self.store.transaction() as session:
            session.add(Event(id=number, at=1.0, kind="queue active"))

    def test_what_the_api_writes(self):
        self.assertTrue(self.changes(self.store.submit, 1, []))
        self.assertTrue(self.changes(self.store.hold, 1, True))
        self.assertFalse(self.changes(self.store.hold, 1, True))
        self.assertTrue(self.changes(self.store.set_queue_mode, "default", "paused"))
        self.assertTrue(self.changes(submissions.begin, self.store, "p", 3, lambda *_: None))

    def test_an_event_that_is_committed_after_a_later_one(self):
        self.event(7)
        self.assertTrue(self.changes(self.event, 6))

    def test_what_leaders_write(self):
        term = terms.begin(self.store, "default", "one")
        self.assertFalse(self.changes(self.written, term, False))
        self.assertTrue(self.changes(self.written, term))
        self.assertFalse(self.changes(terms.renew, self.store, "default", term, time.time()))
        self.assertTrue(self.changes(terms.begin, self.store, "gpu", "two"))
        self.assertTrue(self.changes(terms.begin, self.store, "default", "two"))
        self.assertRaises(terms.Deposed, self.changes, self.written, term)

    def test_time_alone(self):
        terms.begin(self.store, "default", "one")
        dead = time.time() - 100 * LEASE
        self.assertTrue(self.changes(lambda: self.set_leader(renewed_at=dead)))

        def predict(valid_until):
            with self.store.transaction() as session:
                session.merge(
                    PoolPrediction(
                        pool="default",
                        made_at=1.0,
                        valid_until=valid_until,
                        estimator="x",
                        calibration={},
                    )
                )

        predict(time.time() + 1000)
        self.assertTrue(self.changes(predict, time.time() - 1))
        self.assertFalse(self.changes(predict, time.time() - 2))

    def test_a_purge(self):
        terms.begin(self.store, "default", "one")
        for number in (1, 2, 3):
            self.store.submit(1, [], at=1.0)
            with self.store.transaction() as session:
                job = session.merge(self.store.job(number))
                job.state, job.finished_at = JobState.FINISHED, 2.0
        self.store.submit(1, [])
        self.assertFalse(self.changes(purge, self.store, 1e9, True))
        self.assertTrue(self.changes(purge, self.store, 1e9, False, lambda _: None))
