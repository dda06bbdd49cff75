"""An engine sees to its pool, as long as nobody else does."""

from unittest import mock

import testtools

from nova_twotier.core import policies
from nova_twotier.db.states import QueueMode
from nova_twotier.db.store import open_actions, open_jobs
from nova_twotier.db.terms import Deposed
from nova_twotier.manager.engine import Engine
from tests.new_databases import new_store
from tests.unit.manager import builders

OPTIONS = builders.options(attempts=1, boot_grace=0.0, concurrency=1)


class Decider(Engine):
    """Decides upon two hosts of four slots each, with no cloud behind them."""

    def _observe(self, _recorded):
        return builders.seen()


class TestPools(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.store = new_store(self)
        self.jobs = {
            pool: self.store.submit(2, [0.5], at=1, pool=pool).number for pool in ("default", "gpu")
        }

    def poll(self, pool, **options):
        policy = policies.get("fcfs")
        engine = Decider(
            OPTIONS, self.store, mock.Mock(), None, policy, lambda: 100.0, pool=pool, **options
        )
        self.addCleanup(engine.close)
        engine.poll()

    def starts(self, pool=None):
        with self.store.reading() as session:
            return [action.job for action in open_actions(session, pool)]

    def test_each_sees_to_its_own_jobs(self):
        self.poll("gpu")
        self.assertEqual([self.jobs["gpu"]], self.starts())
        self.assertEqual([], self.starts("default"))
        self.store.set_queue_mode("gpu", QueueMode.PAUSED)
        self.poll("default")
        self.assertEqual([self.jobs["default"]], self.starts("default"))
        with self.store.reading() as session:
            self.assertEqual(2, len(open_jobs(session)))
            [job] = open_jobs(session, "gpu")
        self.assertEqual(self.jobs["gpu"], job.number)

    def test_decides_nothing_when_it_was_replaced(self):
        def fence(_session, lock=False):
            raise Deposed("led by another")

        self.assertRaises(Deposed, self.poll, "gpu", fence=fence)
        self.assertEqual([], self.starts())

    def test_writes_nothing_when_it_was_replaced_meanwhile(self):
        def fence(_session, lock=False):
            if lock:
                raise Deposed("led by another")

        self.assertRaises(Deposed, self.poll, "gpu", fence=fence)
        self.assertEqual([], self.starts())
        self.assertIsNone(self.store.job(self.jobs["gpu"]).reason)
