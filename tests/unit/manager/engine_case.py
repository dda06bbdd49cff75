"""An engine with no cloud behind it, which sees what the test says."""

import threading
from unittest import mock

import fixtures
import testtools

from nova_twotier.core import policies
from nova_twotier.db.progress import RequestKey
from nova_twotier.db.states import JobState
from nova_twotier.db.store import open_actions
from nova_twotier.manager.engine import Engine
from tests.new_databases import new_store
from tests.unit.manager import builders

#: Seconds that a request may take on a slow machine.
WAIT = 60

BOOT = RequestKey("boot")


class Seeing(Engine):
    """Sees what the test says, in a ledger that takes everything."""

    seen = None

    def _observe(self, _recorded):
        return self.seen


class PollCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.store = new_store(self, f"sqlite:///{directory}/queue.sqlite")
        self.cloud, self.placement = mock.Mock(), mock.Mock()
        self.placement.get.return_value = {"allocations": {}}
        self.now = 100.0
        self.woken = threading.Semaphore(0)
        self.options = {}
        self.engine = self.make_engine()

    def make_engine(self, policy="fcfs", preemption_timeout=900.0, **values):
        engine = Seeing(
            builders.options(boot_grace=5.0, preemption_timeout=preemption_timeout, **self.options),
            self.store,
            self.cloud,
            self.placement,
            policies.get(policy),
            lambda: self.now,
            wake=self.woken.release,
            **values,
        )
        self.addCleanup(engine.close)
        return engine

    def poll(self, *gangs, **options):
        self.engine.seen = builders.seen(*gangs, at=self.now, **options)
        return self.engine.poll()

    def ended(self, job):
        """The guests of a job have powered themselves off, which is seen."""
        gang = builders.servers(job, "SHUTOFF")
        self.cloud.booted_at.return_value = None
        self.inquire(gang)
        self.poll(gang)

    def inquire(self, gang):
        """A poll that asks why servers are off; the answers come when it is over, and no sooner."""
        polled = threading.Event()

        def action_log(_server):
            polled.wait(WAIT)
            return builders.ENDED

        self.cloud.instance_actions.side_effect = action_log
        self.poll(gang)
        polled.set()
        self.answered(len(gang))

    def answered(self, count=1):
        for _request in range(count):
            self.assertTrue(self.woken.acquire(timeout=WAIT))

    def running(self, **values):
        job = builders.job(state=JobState.RUNNING, run_since=self.now, **values)
        with self.store.transaction() as session:
            session.add(job)
        return job

    def opened(self):
        with self.store.reading() as session:
            return [(action.kind, action.job) for action in open_actions(session)]

    def kinds(self, job):
        return [event.kind for event in self.store.events(job.number)]
