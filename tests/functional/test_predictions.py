"""Predictions of a manager on a fake Nova: when they are made, kept, judged and written."""

import math

from sqlalchemy import select

from nova_twotier.core.prediction.questions import Question, answer
from nova_twotier.core import policies, prediction
from nova_twotier.db.models import PoolPrediction, Prediction
from nova_twotier.db.states import JobState
from nova_twotier.db.prediction import ALL, NOTHING, START
from tests.functional.manager_case import InMemoryTestCase
from tests.unit.manager import builders

INTERVAL = 10.0
OPTIONS = builders.options(
    attempts=4,
    boot_grace=3.0,
    host_interval=1e9,
    prediction_interval=INTERVAL,
    estimator="requested",
)


class TestPredictions(InMemoryTestCase):
    """Two hosts with three slots each; one round takes a second."""

    def setUp(self):
        super().setUp()
        self.options = OPTIONS
        self.cloud(seed=1)
        self.manager = self.engine("fcfs")

    def submit(self, size, estimate, **more):
        return self.store.submit(size, [0.5], at=self.now, estimate=estimate, **more).number

    def run_for(self, rounds):
        self.rounds(self.manager, rounds)

    def predicted(self, number):
        with self.store.reading() as session:
            return session.get(Prediction, number)

    def learned(self):
        with self.store.reading() as session:
            return session.get(PoolPrediction, "default")

    def test_first(self):
        first = self.submit(6, 100)
        self.run_for(8)
        second = self.submit(6, 50)
        self.run_for(15)
        print(self.now, self.store.job(first).state, self.store.job(first).started_at)
        for n in (first, second):
            p = self.predicted(n)
            print({c.name: getattr(p, c.name) for c in Prediction.__table__.columns})
        l = self.learned()
        print({c.name: getattr(l, c.name) for c in PoolPrediction.__table__.columns})
        self.fail()
