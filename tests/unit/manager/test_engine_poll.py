"""A poll of the engine, with no cloud behind it: what it records, requests, and leaves alone."""

import contextlib
import dataclasses
import threading
import time
from unittest import mock

import fixtures

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.listing import Stopped
from nova_twotier.core.reasons import changes, waits
from nova_twotier.db.models import Job
from nova_twotier.db.plans import EvictPlan
from nova_twotier.db.progress import Progress
from nova_twotier.db.states import ActionKind, ActionState, JobState, Preemption, QueueMode
from nova_twotier.db.store import open_actions
from nova_twotier.db.terms import Deposed
from tests.unit.manager import builders
from tests.unit.manager.engine_case import BOOT, WAIT, PollCase, Seeing


class TestListings(PollCase):
    def test_they_end_with_the_engine(self):
        [lister] = self.cloud.begin.call_args.args
        self.assertEqual(["a"], lister.collect("a"))
        going, over = threading.Event(), threading.Event()

        def pages():
            going.set()
            yield "a page"
            over.wait(60)
            yield "another one"

        listing = lister.submit(lambda: lister.collect(pages()))
        self.assertTrue(going.wait(60))
        closing = threading.Thread(target=self.engine.close)
        closing.start()
        with contextlib.suppress(Stopped):
            while lister.collect("a"):
                time.sleep(0.01)
        self.assertTrue(closing.is_alive(), "it waits for the page under way")
        over.set()
        closing.join(60)
        self.assertTrue(listing.done())
        self.assertRaises(Stopped, listing.result)


class TestInterruptedRuns(PollCase):
    """A job of which some servers are shelved does not run, though its pause is over."""

    def interrupted(self):
        job = self.running(walltime=70.0, run_before=15.0, not_before=self.now)
        up, away = builders.servers(job)
        return job, [up, dataclasses.replace(away, status="SHELVED_OFFLOADED", host=None)]

    def test_it_is_repaired_after_a_long_time_without_a_manager(self):
        job, gang = self.interrupted()
        self.now += 1000.0
        self.poll(gang)
        self.assertEqual([(ActionKind.EVICT, job.number)], self.opened())
        self.assertEqual(15.0, self.store.job(job.number).ran(self.now))

    def test_nor_while_nova_is_busy_with_it(self):
        job, [up, away] = self.interrupted()
        for _poll in range(3):
            self.now += 50.0
            self.poll([dataclasses.replace(up, task="shelving"), away])
        self.assertEqual(
            (JobState.RUNNING, 15.0),
            (self.store.job(job.number).state, self.store.job(job.number).ran(self.now)),
        )

    def test_it_runs_on_with_all_its_servers(self):
        job, [up, away] = self.interrupted()
        self.now += 30.0
        self.poll([up, dataclasses.replace(away, status="ACTIVE", host="a")])
        self.assertEqual(45.0, self.store.job(job.number).ran(self.now))

    def test_what_it_ran_since_then_counts_when_a_server_is_shelved_later(self):
        job, [up, away] = self.interrupted()
        self.now += 30.0
        self.poll([up, dataclasses.replace(away, status="ACTIVE", host="a")])
        self.now += 10.0
        self.poll([up, away])
        self.assertEqual([(ActionKind.EVICT, job.number)], self.opened())
        self.assertEqual(55.0, self.store.job(job.number).ran(self.now))


class TestRecords(PollCase):
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


class TestRequests(PollCase):
    def test_a_poll_does_not_wait_nor_ask_twice(self):
        over = threading.Event()
        self.addCleanup(over.set)
        asked = threading.Semaphore(0)

        def boot(*_arguments, **_options):
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

    def test_hosts_that_do_not_answer_for_consoles_hold_up_nobody(self):
        """Neither the preemption, whose grace goes by, nor a start, with one request at a time."""
        over, asked = threading.Event(), threading.Semaphore(0)

        def hang(*_arguments):
            asked.release()
            over.wait(3 * WAIT)
            raise CloudError("no answer")

        self.cloud.require_report.side_effect = self.cloud.console_log.side_effect = hang
        self.options = {"preemption_grace": 30.0, "concurrency": 1}
        self.engine = self.make_engine("amcbf")
        self.addCleanup(over.set)
        token = {"report_token": "t0ken", "checkpoint": True}
        job = self.running(size=2, preemption=Preemption.SHELVE, **token)
        ended = self.running(size=1, **token)
        plan = EvictPlan(changes.PREEMPTED(9), Preemption.SHELVE)
        with self.store.transaction() as session:
            session.get(Job, job.number).state = JobState.PREEMPTING
            opened = builders.action(ActionKind.EVICT, job, plan, begun_at=None)
            opened.pool, opened.state = "default", ActionState.EXPECTED
            session.add(opened)
        gang, off = builders.servers(job), builders.servers(ended, "SHUTOFF")

        def poll(*more):
            self.poll(gang, off, *more, where=builders.hosts("a", slots=4))

        poll()
        self.answered(2)  # to the notices
        poll()
        self.assertTrue(asked.acquire(timeout=WAIT))
        self.store.submit(1, [0.5], at=1)
        poll()
        poll()
        self.answered()
        self.assertEqual(1, self.cloud.boot.call_count)
        self.now += 31.0
        poll()
        self.answered(2)
        self.assertEqual(2, self.cloud.shelve.call_count)

    def test_recorded_before_it_is_requested(self):
        found = []

        def boot(*_arguments, **_options):
            with self.store.reading() as session:
                found.append([action.progress.attempts[BOOT] for action in open_actions(session)])

        self.cloud.boot.side_effect = boot
        self.store.submit(2, [0.5], at=1)
        self.poll()
        self.poll()
        self.answered()
        self.assertEqual([[0]], found)

    def test_what_was_answered_is_not_lost_when_a_poll_fails(self):
        self.store.submit(2, [0.5], at=1)
        self.poll()
        self.poll()
        self.answered()
        with mock.patch.object(Seeing, "_observe", side_effect=CloudError("no")):
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


class TestFence(PollCase):
    def fence(self, _session, lock=False):
        if lock == self.locked:
            raise Deposed("another leads")

    def test_who_was_deposed_records_nothing(self):
        self.store.submit(2, [0.5], at=1)
        for self.locked in (False, True):
            self.engine = self.make_engine(fence=self.fence)
            self.assertRaises(Deposed, self.poll)
            self.assertEqual([], self.opened())

    def test_who_was_deposed_does_not_log_what_it_did_not_record(self):
        """What happened is logged once it is recorded, so that two managers do not both say it."""
        log = self.useFixture(fixtures.FakeLogger(format="%(message)s"))
        job = self.running(walltime=70.0)
        self.now = 115.0
        self.locked = True
        self.engine = self.make_engine(fence=self.fence)
        self.assertRaises(Deposed, self.poll, builders.servers(job))
        self.assertNotIn(f"Job {job.number} warned", log.output)
        self.engine = self.make_engine()
        self.poll(builders.servers(job))
        self.answered(2)
        self.assertIn(f"Job {job.number} warned", log.output)


class TestModes(PollCase):
    def test_paused(self):
        """What runs goes on and ends; nothing starts."""
        self.store.set_queue_mode("default", QueueMode.PAUSED)
        job = self.running()
        waiting = self.store.submit(2, [0.5], at=1)
        self.poll(builders.servers(job))
        self.assertEqual([], self.opened())
        self.assertEqual(waits.PAUSED(), self.store.job(waiting.number).reason)
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


class TestWarning(PollCase):
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
        # They are told at the same time.
        self.assertCountEqual(
            [mock.call(server, text) for server in gang], self.cloud.notice.call_args_list
        )

    def test_then_it_is_stopped(self):
        job = self.running(walltime=70.0)
        self.now = 170.0
        self.poll(builders.servers(job))
        self.assertEqual([(ActionKind.END, job.number)], self.opened())


class TestPools(PollCase):
    def test_only_its_own_jobs(self):
        self.engine = self.make_engine(pool="gpu")
        self.store.submit(2, [0.5], at=1)
        mine = self.store.submit(2, [0.5], at=2, pool="gpu")
        self.poll()
        with self.store.reading() as session:
            [start] = open_actions(session)
        self.assertEqual((mine.number, "gpu"), (start.job, start.pool))


class TestEnds(PollCase):
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


class TestPowerOn(PollCase):
    def test_it_holds_nobody_up(self):
        job = self.running(size=1)
        off = builders.servers(job, "SHUTOFF")
        self.cloud.booted_at.return_value = 80.0
        self.inquire(off)
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
