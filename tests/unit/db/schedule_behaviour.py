"""Pages of the schedule, on whatever database."""

import random

from nova_twotier.core.actions import Tier
from nova_twotier.db import schedule
from nova_twotier.db.models import Place, PoolPrediction, Prediction
from nova_twotier.db.schedule import Window
from nova_twotier.db.states import JobState

MADE = 90.0


class ScheduleBehaviour:
    """Tests of `self.store`, which is empty."""

    def places(self, job, spans):
        """Stays of a job, in seconds; returns their ids."""
        with self.store.transaction() as session:
            rows = [
                Place(
                    job=job,
                    process=0,
                    server="s",
                    host="a",
                    tier=Tier.FG,
                    slot=0,
                    since=since,
                    until=until,
                )
                for since, until in spans
            ]
            session.add_all(rows)
            session.flush()
            return [row.id for row in rows]

    def pages(self, read, limit):
        """All pages, one after the other; `read` gets a session, the marker and the limit."""
        after, found = None, []
        while True:
            with self.store.reading() as session:
                items, markers = read(session, after, limit)
            found += items
            if len(items) < limit:
                return found
            after = markers[-1]

    def stays(self, window, limit=100, pool=None):
        def read(session, after, most):
            page = schedule.stays(session, window, pool, after, most)
            return [stay.place.id for stay in page], [stay.marker for stay in page]

        return self.pages(read, limit)

    def starts(self, window, limit=100, pool=None):
        def read(session, after, most):
            jobs, markers = schedule.starts(session, window, pool, after, most)
            return [job.number for job in jobs], markers

        return self.pages(read, limit)

    def test_the_stays_in_any_window_on_pages_of_any_size(self):
        chance = random.Random(3)
        jobs = [self.store.submit(1, [], pool=pool).number for pool in ("default", "gpu")]
        spans = []
        for _ in range(60):
            since = float(chance.randrange(20))
            # Many begin together; one in ten ended before it began, as after a step of the clock.
            until = chance.choice([None, since - 1.0, *(since + each for each in range(1, 9))])
            spans.append((since, until, chance.choice(jobs)))
        ids = [self.places(job, [(since, until)])[0] for since, until, job in spans]
        known = dict(zip(ids, spans, strict=True))

        def expected(window, job=None):
            there = [
                (since, number)
                for number, (since, until, of) in known.items()
                if (until is None or until > max(since, window.begin))
                and (window.end is None or since < window.end)
                and job in (None, of)
            ]
            return [number for _since, number in sorted(there)]

        for window in (Window(0.0), Window(5.0, 9.0), Window(7.0), Window(25.0), Window(3.0, 3.5)):
            for limit in (1, 3, 100):
                self.assertEqual(expected(window), self.stays(window, limit), (window, limit))
            self.assertEqual(expected(window, jobs[1]), self.stays(window, 2, "gpu"))
        self.assertEqual([], self.stays(Window(-9.0, 0.0)))

    def predict(self, number, start, finish=None, made_at=MADE):
        with self.store.transaction() as session:
            session.add(
                Prediction(
                    job=number,
                    made_at=made_at,
                    start=start,
                    finish=finish,
                    work=0.0,
                    ran=0.0,
                    judged=0,
                )
            )

    def predict_pool(self, pool="default", made_at=MADE):
        with self.store.transaction() as session:
            session.merge(
                PoolPrediction(
                    pool=pool, made_at=made_at, valid_until=1e9, estimator="x", calibration={}
                )
            )

    def test_starts_on_pages_of_any_size(self):
        numbers = [self.store.submit(1, []).number for _ in range(9)]
        for number, start in zip(
            numbers, (150, 100, 100, 100, 200, 200, 300, 100, 50), strict=True
        ):
            self.predict(number, float(start), start + 10.0)
        self.predict_pool()
        in_order = [numbers[place] for place in (8, 1, 2, 3, 7, 0, 4, 5, 6)]
        for limit in (1, 2, 3, 100):
            self.assertEqual(in_order, self.starts(Window(0.0), limit), limit)
        self.assertEqual(in_order[1:6], self.starts(Window(60.0, 200.0), 2))

    def test_starts_of_no_others(self):
        """Of those that run, of another pool, never, or of an earlier prediction."""
        [mine, *others] = [self.store.submit(1, []).number for _ in range(4)]
        theirs = self.store.submit(1, [], pool="gpu").number
        for number, start, made_at in (
            (mine, 100.0, MADE),
            (theirs, 100.0, MADE),
            (others[0], 100.0, MADE),
            (others[1], None, MADE),
            (others[2], 100.0, MADE - 1),
        ):
            self.predict(number, start, made_at=made_at)
        self.predict_pool()
        self.predict_pool("gpu")
        with self.store.transaction() as session:
            session.merge(self.store.job(others[0])).state = JobState.RUNNING
        self.assertEqual([mine], self.starts(Window(0.0), pool="default"))
        self.assertEqual([mine, theirs], self.starts(Window(0.0)))
