"""A poll of the engine, with no cloud behind it: what it records, requests, and leaves alone."""

import threading
from unittest import mock

import fixtures
import testtools

from nova_twotier.cloud.errors import CloudError
from nova_twotier.core import policies
from nova_twotier.db.models import Action, Job
from nova_twotier.db.progress import Progress, RequestKey
from nova_twotier.db.states import ActionKind, ActionState, JobState, QueueMode
from nova_twotier.db.store import Store, open_actions
from nova_twotier.db.terms import Deposed
from nova_twotier.manager import order
from nova_twotier.manager.engine import PAUSED, Engine
from tests.unit.manager import builders

WAIT = 10

BOOT = RequestKey("boot")


class Looking(Engine):
    """Sees what the test says, in a ledger that takes everything."""

    seen = None

    def _observe(self, _recorded):
        return self.seen

    def _settle_ledger(self, work):
        """There is no ledger."""


class LookCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.store = Store(f"sqlite:///{directory}/queue.sqlite")
        self.addCleanup(self.store.close)
        self.cloud, self.placement = mock.Mock(), mock.Mock()
        self.placement.get.return_value = {"allocations": {}}
        self.now = 100.0
        self.woken = threading.Semaphore(0)
        self.engine = self.make_engine()

    def make_engine(self, policy="fcfs", preemption_timeout=900.0, **values):
        engine = Looking(
            builders.options(boot_grace=5.0, preemption_timeout=preemption_timeout),
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
        self.cloud.instance_actions.return_value = builders.ENDED
        self.cloud.booted_at.return_value = None
        self.poll(gang)
        self.answered(job.size)
        self.poll(gang)

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


class TestRecords(LookCase):
    def test_what_is_decided_together_in_the_order_in_which_it_can_be_done(self):
        self.engine = self.make_engine("amcbf")
        late = self.running(size=2, cpu=1.0, submitted_at=20.0)
        first = builders.job(
            state=JobState.QUEUED, tier=None, size=2, cpu=1.0, submitted_at=10.0, run_since=None
        )
        with self.store.transaction() as session:
            session.add(first)
        where = builders.hosts("ab", slots=1, tiers=2)
        self.assertTrue(self.poll(builders.servers(late, hosts=("a", "b")), where=where))
        with self.store.reading() as session:
            evict, start = open_actions(session)
        self.assertEqual((ActionKind.EVICT, late.number), (evict.kind, evict.job))
        self.assertEqual((ActionKind.START, first.number), (start.kind, start.job))
        for action in (evict, start):
            self.assertEqual((ActionState.EXPECTED, Progress()), (action.state, action.progress))
            self.assertEqual(
                (self.now, None, ""), (action.created_at, action.begun_at, action.reason)
            )
        self.assertEqual("fg", start.plan.tier)


class TestRequests(LookCase):
    def test_a_look_does_not_wait_nor_ask_twice(self):
        over = threading.Event()
        self.addCleanup(over.set)
        asked = threading.Semaphore(0)

        def boot(*_arguments):
            asked.release()
            over.wait(WAIT)

        self.cloud.boot.side_effect = boot
        self.store.submit(2, [0.5], at=1)
        self.assertTrue(self.poll())
        for _poll in range(3):
            self.now += 10
            self.poll()
        self.assertTrue(asked.acquire(timeout=WAIT))
        self.assertEqual(1, self.cloud.boot.call_count)

    def test_recorded_before_it_is_requested(self):
        found = []

        def boot(*_arguments):
            with self.store.reading() as session:
                found.append([action.progress.attempts[BOOT] for action in open_actions(session)])

        self.cloud.boot.side_effect = boot
        self.store.submit(2, [0.5], at=1)
        self.poll()
        self.poll()
        self.answered()
        self.assertEqual([[0]], found)

    def test_what_was_answered_is_not_lost_when_a_look_fails(self):
        self.store.submit(2, [0.5], at=1)
        self.poll()
        self.poll()
        self.answered()
        with mock.patch.object(Looking, "_observe", side_effect=CloudError("no")):
            self.assertRaises(CloudError, self.engine.poll)
        self.poll()
        with self.store.reading() as session:
            [start] = open_actions(session)
        self.assertEqual(1, start.progress.attempts[BOOT])

    def test_no_requests_inside_a_transaction(self):
        """An API that wants to write meanwhile can."""
        self.cloud.delete_server_group.side_effect = None
        job = self.running()

        def post(*_request):
            self.store.hold(job.number, True)

        self.placement.post.side_effect = post
        self.store.submit(1, [0.5], at=1)
        self.poll(builders.servers(job))
        self.poll(builders.servers(job))
        self.assertTrue(self.placement.post.called)
        self.assertTrue(self.store.job(job.number).held)

    def test_nothing_is_written_when_nothing_changes(self):
        job = self.running()
        self.poll(builders.servers(job))
        with mock.patch.object(self.store, "transaction") as transaction:
            self.poll(builders.servers(job))
        transaction.assert_not_called()


class TestFence(LookCase):
    def fence(self, _session, lock=False):
        if lock == self.locked:
            raise Deposed("another leads")

    def test_who_was_deposed_records_nothing(self):
        self.store.submit(2, [0.5], at=1)
        for self.locked in (False, True):
            self.engine = self.make_engine(fence=self.fence)
            self.assertRaises(Deposed, self.poll)
            self.assertEqual([], self.opened())


class TestModes(LookCase):
    def test_paused(self):
        """What runs goes on and ends; nothing starts."""
        self.store.set_queue_mode("default", QueueMode.PAUSED)
        job = self.running()
        waiting = self.store.submit(2, [0.5], at=1)
        self.poll(builders.servers(job))
        self.assertEqual([], self.opened())
        self.assertEqual(PAUSED, self.store.job(waiting.number).reason)
        self.ended(job)
        self.assertEqual([(ActionKind.END, job.number)], self.opened())

    def test_what_has_not_begun_is_dropped(self):
        waiting = self.store.submit(2, [0.5], at=1)
        self.poll()
        self.assertEqual([(ActionKind.START, waiting.number)], self.opened())
        self.store.set_queue_mode("default", QueueMode.PAUSED)
        self.poll()
        self.assertEqual([], self.opened())
        self.store.set_queue_mode("default", QueueMode.ACTIVE)
        self.poll()
        self.assertEqual([(ActionKind.START, waiting.number)], self.opened())

    def test_draining_goes_on(self):
        waiting = self.store.submit(2, [0.5], at=1)
        self.store.set_queue_mode("default", QueueMode.DRAINING)
        self.poll()
        self.assertEqual([(ActionKind.START, waiting.number)], self.opened())


class TestWarning(LookCase):
    def test_once_with_a_notice(self):
        job = self.running(walltime=70.0)
        gang = builders.servers(job)
        self.poll(gang)
        self.assertEqual([], self.kinds(job))
        for self.now in (115.0, 116.0):
            self.poll(gang)
        self.answered(2)
        self.assertEqual(["warned"], self.kinds(job))
        text = "stopped at 1970-01-01T00:02:50+00:00"
        self.assertEqual(
            [mock.call(server, text) for server in gang], self.cloud.notice.call_args_list
        )

    def test_then_it_is_stopped(self):
        job = self.running(walltime=70.0)
        self.now = 170.0
        self.poll(builders.servers(job))
        self.assertEqual([(ActionKind.END, job.number)], self.opened())


class TestPools(LookCase):
    def test_only_its_own_jobs(self):
        self.engine = self.make_engine(pool="gpu")
        self.store.submit(2, [0.5], at=1)
        mine = self.store.submit(2, [0.5], at=2, pool="gpu")
        self.poll()
        with self.store.reading() as session:
            [start] = open_actions(session)
        self.assertEqual((mine.number, "gpu"), (start.job, start.pool))


class TestEnds(LookCase):
    def test_slots_do_not_wait_for_the_server_group(self):
        """What Nova still deletes for a job that has ended holds nobody up."""
        job = self.running(size=8)
        waiting = self.store.submit(8, [0.5], at=200)
        self.ended(job)
        self.answered(8)
        held = threading.Event()
        self.addCleanup(held.set)
        self.cloud.delete_server_group.side_effect = lambda _job: held.wait(WAIT)
        self.poll()
        self.poll()
        self.assertEqual(
            {(ActionKind.END, job.number), (ActionKind.START, waiting.number)}, set(self.opened())
        )


class TestPowerOn(LookCase):
    def test_it_holds_nobody_up(self):
        job = self.running(size=1)
        off = builders.servers(job, "SHUTOFF")
        self.cloud.instance_actions.return_value = builders.ENDED
        self.cloud.booted_at.return_value = 80.0
        self.poll(off)
        self.answered()
        self.poll(off)
        self.answered()
        self.cloud.start.assert_called_once_with(off[0])
        waiting = self.store.submit(1, [0.5], at=200)
        starting = builders.servers(job, "SHUTOFF", task="powering-on")
        self.poll(starting)
        self.poll(starting)
        self.answered()
        self.cloud.boot.assert_called_once()
        self.assertEqual(
            {(ActionKind.POWER_ON, job.number), (ActionKind.START, waiting.number)},
            set(self.opened()),
        )


class TestFailure(LookCase):
    def test_half_a_job_does_not_stay_behind(self):
        """What a failure drops: not the migrations of a job whose swap is done."""
        swap, halfway = (
            builders.action(kind, begun_at=None) for kind in (ActionKind.SWAP, ActionKind.MIGRATE)
        )
        later = builders.action(ActionKind.START, begun_at=None)
        failed = builders.action(ActionKind.EVICT)
        for state, left in (
            (ActionState.DONE, [halfway]),
            (ActionState.FAILED, []),
            (ActionState.EXPECTED, []),
        ):
            opened = [swap, halfway, later]
            for action in opened:
                action.state = ActionState.EXPECTED
            swap.state = state
            order.abandon(opened, failed, self.now)
            expected = [action for action in opened if action.state == ActionState.EXPECTED]
            self.assertEqual(left, expected, state)

    def test_no_start_of_a_job_that_is_to_end(self):
        waiting = self.store.submit(2, [0.5], at=1)
        self.poll()
        self.assertEqual([(ActionKind.START, waiting.number)], self.opened())
        self.store.request_action(waiting.number, "cancel")
        self.poll()
        self.assertEqual([(ActionKind.END, waiting.number)], self.opened())

    def test_a_decision_that_was_not_recorded_is_taken_again(self):
        self.store.submit(2, [0.5], at=1)
        with mock.patch.object(self.store, "transaction", side_effect=RuntimeError):
            self.assertRaises(RuntimeError, self.poll)
        self.poll()
        self.assertEqual(1, len(self.opened()))

    def test_an_eviction_that_never_ends(self):
        """The pool goes on without it, and in the end its servers are deleted."""
        self.engine = self.make_engine(policy="amcbf", preemption_timeout=60.0)
        late = self.running(size=8, cpu=1.0, submitted_at=50.0)
        first = self.store.submit(8, [1.0], at=1)
        self.poll(builders.servers(late, hosts="ab"))
        self.assertEqual(
            [(ActionKind.EVICT, late.number), (ActionKind.START, first.number)], self.opened()
        )
        stuck = builders.servers(late, task="shelving", hosts="ab")
        self.poll(stuck)
        small = self.store.submit(1, [0.5], at=200)
        self.poll(stuck, where=builders.hosts("abc"))
        self.assertIn((ActionKind.START, small.number), self.opened())
        self.cloud.delete.assert_not_called()
        self.now += 60
        self.poll(stuck, where=builders.hosts("abc"))
        while self.cloud.delete.call_count < len(stuck):
            self.answered()
        self.poll()
        self.assertEqual(["killed"], self.kinds(late))

    def test_the_time_that_nobody_looked_does_not_count(self):
        """A manager that takes over finds what was begun long ago, and goes on with it."""
        late = self.running(size=8, cpu=1.0, submitted_at=50.0)
        self.store.submit(8, [1.0], at=1)
        gang = builders.servers(late, hosts="ab")
        self.engine = self.make_engine(policy="amcbf", preemption_timeout=60.0)
        self.poll(gang)
        with mock.patch.object(self.store, "transaction"):
            self.poll(gang)  # the eviction begins, and asks for nothing
        with self.store.transaction() as session:
            evict = open_actions(session)[0]
            evict.begun_at, session.get(Job, late.number).state = self.now, JobState.PREEMPTING
        self.now += 3600
        self.engine.close()
        self.engine = self.make_engine(policy="amcbf", preemption_timeout=60.0)
        self.cloud.shelve.reset_mock()
        for _poll in range(2):
            self.poll(gang)
            self.now += 59
        self.assertEqual((ActionKind.EVICT, late.number), self.opened()[0])
        while self.cloud.shelve.call_count < len(gang):
            self.answered()  # or another request, of the manager before

    def test_no_quota_is_no_trouble_of_others(self):
        """Of many jobs of a project without quota one is tried; the others wait with it."""
        quota = CloudError("Nova refused boot: Quota exceeded for cores (HTTP 403)", 403)

        def boot(job, _user_data):
            if job.project_id == "a":
                raise quota

        self.cloud.boot.side_effect = boot
        poor = [self.store.submit(4, [1.0], at=at, project_id="a", trust_id="t") for at in (1, 2)]
        rich = self.store.submit(4, [1.0], at=3, project_id="b", trust_id="t")
        self.store.hold(poor[1].number, True)
        self.poll()
        started = [(ActionKind.START, poor[0].number), (ActionKind.START, rich.number)]
        self.assertEqual(started, self.opened())
        self.store.hold(poor[1].number, False)
        self.poll()
        self.answered(2)
        for _poll in range(2):
            self.poll()
            self.now += 1
        self.assertEqual([(ActionKind.START, rich.number)], self.opened())
        self.assertEqual(2, self.cloud.boot.call_count)
        for job in map(self.store.job, (one.number for one in poor)):
            self.assertIn("waits for quota", job.reason)
            self.assertGreater(job.not_before, self.now)
        self.poll()
        self.assertEqual([(ActionKind.START, rich.number)], self.opened())

    def test_what_was_decided_for_others_stays(self):
        """A job that was to start below one whose project has no quota."""
        quota = CloudError("Nova refused boot: Quota exceeded for cores (HTTP 403)", 403)
        self.cloud.boot.side_effect = quota
        self.engine = self.make_engine(policy="amcbf")
        self.store.submit(8, [0.5], at=1, project_id="a", trust_id="t")
        rich = self.store.submit(4, [0.5], at=2, project_id="b", trust_id="t")
        self.poll()
        self.poll()
        with self.store.reading() as session:
            before = next(a.id for a in open_actions(session) if a.job == rich.number)
        self.answered()
        for _poll in range(2):
            self.poll()
            self.now += 1
        with self.store.reading() as session:
            self.assertEqual([before], [action.id for action in open_actions(session)])

    def test_what_waits_for_quota_is_not_begun(self):
        """Although it was decided before."""
        one = self.store.submit(2, [0.5], at=1)
        self.poll()
        self.assertEqual([(ActionKind.START, one.number)], self.opened())
        with self.store.transaction() as session:
            session.get(Job, one.number).not_before = self.now + 10
        self.poll()
        self.assertEqual([], self.opened())
        self.cloud.boot.assert_not_called()

    def test_a_job_without_retries_fails(self):
        job = self.running(retries=0)
        self.poll(builders.servers(job, count=1))
        [(kind, number)] = self.opened()
        self.assertEqual((ActionKind.END, job.number), (kind, number))
        self.answered()
        self.poll()
        self.answered()
        self.poll()
        failed = self.store.job(job.number)
        self.assertEqual(
            (JobState.FAILED, "1 of its 2 servers are gone"), (failed.state, failed.reason)
        )
        with self.store.reading() as session:
            [end] = session.query(Action).all()
            self.assertEqual(ActionState.DONE, end.state)
            self.assertEqual(0, session.get(Job, job.number).requeues)
