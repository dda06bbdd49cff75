"""The control plane falls silent: the guests run on, and so do their jobs."""

from sqlalchemy import select

from nova_twotier.db.models import DeadHost
from nova_twotier.db.states import JobState
from tests.functional.manager_case import ManagerTestCase
from tests.unit.manager import builders


class TestOutage(ManagerTestCase):
    HOSTS = 4

    def setUp(self):
        super().setUp()
        self.cloud(seed=11)
        self.options = builders.options(
            attempts=4,
            boot_grace=3.0,
            host_interval=1.0,
            host_down_grace=5.0,
            dead_host_interval=1.0,
            operation_timeout=20.0,
        )
        self.running = [self.store.submit(3, [0.5], at=0, retries=1) for _ in range(3)]
        self.manager = self.engine("amcbf")
        self.rounds(self.manager, 15)
        self.before = {server.id for server in self.nova.servers()}

    def test_nothing_is_begun_anew(self):
        late = self.store.submit(1, [0.5], at=20)
        self.nova.down = set(self.nova.roots)
        self.rounds(self.manager, 100)
        self.assertEqual(self.before, {server.id for server in self.nova.servers()})
        for job in self.running:
            self.assertEqual((JobState.RUNNING, 0), self.state(job))
        self.assertIn("hosts went down together", str(self.store.job(late.number).reason))
        self.nova.down = set()
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.RUNNING, 0), self.state(late))
        self.assertLess(self.before, {server.id for server in self.nova.servers()})

    def test_a_manager_that_starts_in_the_middle_of_it(self):
        self.nova.down = set(self.nova.roots)
        self.rounds(self.engine("amcbf"), 50)
        self.assertEqual(self.before, {server.id for server in self.nova.servers()})

    def test_what_was_under_way_is_not_late(self):
        """An end that was asked for before, which takes longer than it may."""
        [one, *_others] = self.running
        self.store.request_action(one.number, "cancel")
        self.now += 1
        self.manager.poll()
        self.nova.down = set(self.nova.roots)
        self.rounds(self.manager, 100)
        self.nova.down = set()
        self.rounds(self.manager, 15)
        self.assertEqual((JobState.CANCELLED, 0), self.state(one))

    def test_deaths_of_before_are_no_outage(self):
        """Nor for the next leader, which sees all that are down at once."""
        for lost in sorted(self.nova.roots)[:2]:
            self.nova.down.add(lost)
            self.rounds(self.manager, 30)
        manager = self.engine("amcbf")
        late = self.store.submit(1, [0.5], at=self.now)
        self.rounds(manager, 15)
        self.assertEqual(
            (JobState.RUNNING, 0), self.state(late), self.store.job(late.number).reason
        )
        self.nova.down.clear()
        self.rounds(manager, 5)
        self.rounds(self.engine("amcbf"), 5)
        with self.store.reading() as session:
            self.assertEqual([], list(session.scalars(select(DeadHost.host))))

    def test_an_operator_says_that_they_are_dead(self):
        [lost, *silent] = sorted(self.nova.roots)
        self.nova.down = {lost, *silent[:2]}
        self.rounds(self.manager, 30)
        self.assertEqual(self.before, {server.id for server in self.nova.servers()})
        self.nova.forced_down = {lost, silent[0]}
        self.rounds(self.manager, 40)
        hosts = {server.host for server in self.nova.servers() if server.host}
        self.assertFalse(hosts & self.nova.forced_down)

    def test_hosts_that_left_with_jobs_on_them(self):
        """They are no hosts of the pool any more, but the servers there die with them."""
        lost, silent, *_others = sorted({server.host for server in self.nova.servers()})
        self.nova.left = {lost, silent}
        self.rounds(self.manager, 5)
        self.assertEqual(self.before, {server.id for server in self.nova.servers()})
        self.nova.down = {lost}
        self.rounds(self.manager, 20)
        self.assertNotIn(lost, {server.host for server in self.nova.servers()})
        # The next leader believes it, and an operator's word of the other one.
        self.nova.down.add(silent)
        self.nova.forced_down = {silent}
        self.rounds(self.engine("amcbf"), 2)
        with self.store.reading() as session:
            self.assertEqual({lost, silent}, set(session.scalars(select(DeadHost.host))))

    def state(self, job):
        found = self.store.job(job.number)
        return found.state, found.requeues
