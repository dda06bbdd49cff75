"""Held jobs and the engine: they wait, the others do not wait for them."""

from unittest import mock

import testtools

from nova_twotier.core import policies
from nova_twotier.core.reasons import waits
from nova_twotier.db.store import open_actions
from nova_twotier.manager.engine import Engine
from tests.new_databases import new_store
from tests.unit.manager import builders

OPTIONS = builders.options(attempts=1, boot_grace=0.0, concurrency=1)


class Decider(Engine):
    """Decides upon two hosts of four slots each, with no cloud behind them."""

    gangs = ()

    def _observe(self, _recorded):
        return builders.seen(*self.gangs)


class TestHeldJobs(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.store = new_store(self)
        self.engine = Decider(
            OPTIONS, self.store, mock.Mock(), None, policies.get("fcfs"), lambda: 100.0
        )
        self.addCleanup(self.engine.close)

    def starts(self):
        """Numbers of the jobs whose start is decided at the next poll."""
        self.engine.poll()
        with self.store.reading() as session:
            return [action.job for action in open_actions(session)]

    def test_starts_when_it_is_released(self):
        job = self.store.submit(2, [0.5], at=1, held=True)
        self.assertEqual([], self.starts())
        self.assertEqual([], self.starts())
        self.store.hold(job.number, False)
        self.assertEqual([job.number], self.starts())

    def test_those_behind_it_move_up(self):
        with self.store.transaction() as session:
            running = builders.job(size=1, number=1, started_at=0.0)
            session.add(running)
        self.engine.gangs = [builders.servers(running)]
        first = self.store.submit(8, [0.5], at=2)
        second = self.store.submit(2, [0.5], at=3)
        self.assertEqual([], self.starts())
        self.store.hold(first.number, True)
        self.assertEqual([second.number], self.starts())

    def test_waits_behind_those_that_waited_meanwhile(self):
        first = self.store.submit(8, [0.5], at=1, held=True)
        second = self.store.submit(8, [0.5], at=2)
        self.store.hold(first.number, False)
        self.assertEqual([second.number], self.starts())

    def test_held_and_released_between_two_polls(self):
        """It is decided anew, although nothing else has happened."""
        with self.store.transaction() as session:
            running = builders.job(size=1, number=1, started_at=0.0)
            session.add(running)
        self.engine.gangs = [builders.servers(running)]
        first = self.store.submit(8, [0.5], at=2)
        second = self.store.submit(2, [0.5], at=3)
        self.assertEqual([], self.starts())
        for held in (True, False):
            self.store.hold(first.number, held)
        self.assertEqual([second.number], self.starts())

    def test_its_reason_stands(self):
        job = self.store.submit(2, [0.5], at=1, held=True)
        self.engine.poll()
        self.assertEqual(waits.HELD(), self.store.job(job.number).reason)
