"""Accounting of what a queue manager did: jobs lose what they held before they began anew."""

import random

from sqlalchemy import select

from nova_twotier.db import usage
from nova_twotier.db.models import Place
from nova_twotier.db.states import JobState, Preemption
from nova_twotier.db.usage import By, Question, Span
from tests.functional.manager_case import InMemoryTestCase

JOBS = 12


class TestUsage(InMemoryTestCase):
    def usage(self, *by):
        question = Question(period=Span(0.0, self.now + 1), by=by)
        with self.store.reading() as session:
            return usage.usage(session, question, 1000)

    def stays(self, number):
        """Begin and end of what the processes of a job held."""
        with self.store.reading() as session:
            places = session.scalars(select(Place).where(Place.job == number))
            return [(place.since, place.until) for place in places]

    def check_losses(self, policy, seed):
        self.cloud(seed, failures=0.02)
        draw = random.Random(seed)
        arrivals = [
            (draw.randrange(40), draw.randint(1, 5), 0.5, draw.choice(list(Preemption)))
            for _job in range(JOBS)
        ]
        jobs = self.play(policy, arrivals, [draw.randint(1, 20) for _job in arrivals])
        self.assertEqual({JobState.FINISHED}, {job.state for job in jobs})
        rows = {key.job: row for key, row in self.usage(By.JOB).items()}
        begun_anew = set()
        for job in jobs:
            stays, row = self.stays(job.number), rows[job.number]
            lost = [stay for stay in stays if stay[0] < (job.discarded_at or 0.0)]
            # No stay is lost in part.
            self.assertTrue(all(until <= job.discarded_at for _since, until in lost))
            self.assertEqual(sum(until - since for since, until in stays), row.used)
            self.assertEqual(sum(until - since for since, until in lost), row.lost)
            self.assertGreater(row.used, row.lost)
            if {"killed", "queued"} & set(self.kinds(job.number)):
                begun_anew.add(job.number)
            self.assertEqual(job.number in begun_anew, job.discarded_at is not None)
        self.assertNotEqual(set(), begun_anew)
        total = usage.total(self.usage().values())
        self.assertEqual((JOBS, JOBS), (total.started, total.ended))

    def test_under_a_policy_that_kills(self):
        self.check_losses("acfcfs", 1)

    def test_under_a_policy_that_evicts(self):
        self.check_losses("cmcbf", 2)
