"""What a poll of the engine drops, repeats and gives up when something fails."""

from unittest import mock

from sqlalchemy import Engine, event

from nova_twotier.cloud.errors import CloudError
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import failures, waits
from nova_twotier.db import changes
from nova_twotier.db.models import Action, Job
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import ActionKind, ActionState, JobState
from nova_twotier.db.store import open_actions
from nova_twotier.manager import ongoing
from nova_twotier.manager.peers import ADDRESSES_DUE
from tests.executors import OneByOne
from tests.unit.manager import builders
from tests.unit.manager.engine_case import PollCase


class TestEnd(PollCase):
    def setUp(self):
        super().setUp()
        self.engine = self.make_engine(workers=OneByOne())

    def polls(self, *looks):
        for look in looks:
            self.now += 60.0
            self.poll(look)

    def test_a_cancel_that_comes_while_a_requeue_ends(self):
        job = self.running(size=2, started_at=90.0)
        gang = builders.servers(job)
        self.polls(gang)
        changes.requeue(self.store, job.number)
        self.polls(gang)

        def cancel(_url):
            # The last poll of the requeue also releases the job's entry in the ledger.
            if self.cloud.delete_server_group.called:
                self.store.request_action(job.number, "cancel")
            return {"allocations": {}}

        self.placement.get.side_effect = cancel
        self.polls((), ())
        found = self.store.job(job.number)
        self.assertEqual((JobState.QUEUED, "cancel"), (found.state, found.requested_action))
        self.polls((), (), ())
        self.assertEqual(JobState.CANCELLED, self.store.job(job.number).state)
        self.cloud.boot.assert_not_called()

    def test_jobs_are_written_before_what_refers_to_them(self):
        """MariaDB would share their rows, and refuse an owner's request for a deadlock."""
        jobs = [self.store.submit(2, [0.5], at=1.0) for _each in range(2)]
        for job in jobs:
            self.store.request_action(job.number, "cancel")
        written = []

        def note(_connection, _cursor, statement, *_rest):
            written.extend(statement.split()[:3])

        event.listen(Engine, "before_cursor_execute", note)
        self.addCleanup(event.remove, Engine, "before_cursor_execute", note)
        self.polls((), (), ())
        self.assertEqual({JobState.CANCELLED}, {job.state for job in self.store.jobs()})
        last_job = max(at for at, word in enumerate(written) if word == "job")
        self.assertEqual([], [w for w in written[:last_job] if w in ("event", "action")])

    def test_a_requeue_that_is_over_is_asked_no_more(self):
        job = self.running(size=2, started_at=90.0)
        gang = builders.servers(job)
        changes.requeue(self.store, job.number)
        self.polls(gang, (), ())
        found = self.store.job(job.number)
        self.assertIsNone(found.requested_action)
        self.assertIsNotNone(found.discarded_at)

    def test_a_trust_that_keystone_does_not_let_the_manager_delete(self):
        """It is left to `trust sweep`; else the job would never be over."""
        refusal = CloudError("Keystone does not let the user of [nova] delete it", 403)
        self.cloud.delete_trust.side_effect = refusal
        job = self.running(size=1, trust_id="t1", started_at=90.0)
        self.store.request_action(job.number, "cancel")
        self.polls(builders.servers(job), (), (), ())
        self.assertEqual(JobState.CANCELLED, self.store.job(job.number).state)
        self.cloud.delete_trust.assert_called_once()


class TestFailure(PollCase):
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
            ongoing.abandon(opened, failed, self.now)
            expected = [action for action in opened if action.state == ActionState.EXPECTED]
            self.assertEqual(left, expected, state)

    def test_no_start_of_a_job_that_is_to_end(self):
        waiting = self.store.submit(2, [0.5], at=1)
        self.poll()
        self.assertEqual([(ActionKind.START, waiting.number)], self.opened())
        self.store.request_action(waiting.number, "cancel")
        self.poll()
        self.assertEqual([], self.opened())
        self.assertEqual(JobState.CANCELLED, self.store.job(waiting.number).state)

    def test_no_start_of_a_job_that_was_held_after_it_was_decided(self):
        waiting = self.store.submit(2, [0.5], at=1)
        self.poll()
        self.assertEqual([(ActionKind.START, waiting.number)], self.opened())
        self.store.hold(waiting.number, True)
        self.poll()
        self.assertEqual([], self.opened())
        self.cloud.boot.assert_not_called()
        self.store.hold(waiting.number, False)
        self.poll()
        self.assertEqual([(ActionKind.START, waiting.number)], self.opened())

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
        # The claims of these tests have 50 points.
        self.assertEqual(["measured", "killed"], self.kinds(late))

    def test_a_preemption_that_deletes_too_slowly_costs_no_retry(self):
        self.preempt_slowly("requeue", 400.0)

    def test_nor_does_one_that_could_not_save_the_job_in_time(self):
        self.preempt_slowly("shelve", 460.0)

    def preempt_slowly(self, mode, until):
        """Nova deletes the servers of a preempted job, but not before the preemption is given up.

        :param until: when that is.
        """
        self.options = {"operation_timeout": 300.0}
        self.engine = self.make_engine("amcbf", 60.0, workers=OneByOne())
        late = self.running(size=8, cpu=1.0, submitted_at=50.0, preemption=mode, retries=0)
        first = self.store.submit(8, [1.0], at=1)
        start = ActionKind.START, first.number
        gang = builders.servers(late, hosts="ab")
        self.poll(gang)
        self.poll(gang)
        gang = builders.servers(late, hosts="ab", task="deleting")
        while self.now < until:
            self.assertEqual([(ActionKind.EVICT, late.number), start], self.opened())
            self.now += 10
            self.poll(gang)
        # What waited for its slots is decided anew, and finds others.
        self.assertEqual([(ActionKind.END, late.number), start], self.opened())
        self.poll(gang)
        states = [self.store.job(job.number).state for job in (late, first)]
        self.assertEqual([JobState.ENDING, JobState.STARTING], states)
        self.poll()
        self.poll()
        found = self.store.job(late.number)
        self.assertEqual((JobState.QUEUED, None), (found.state, found.tier))
        self.assertEqual((0, 1), (found.requeues, found.evictions))
        self.assertEqual(first.number, found.reason.by)
        self.assertEqual(["measured", "killed"], self.kinds(late))

    def test_the_time_that_nobody_polled_does_not_count(self):
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

    def test_the_time_in_which_nothing_could_be_recorded_does_not_count(self):
        """As when the database is read-only for a while: what is not recorded is not requested."""
        late = self.running(size=8, cpu=1.0, submitted_at=50.0)
        self.store.submit(8, [1.0], at=1)
        gang = builders.servers(late, hosts="ab")
        self.engine = self.make_engine("amcbf", 60.0, workers=OneByOne())
        self.poll(gang)
        with self.store.transaction() as session:
            evict = open_actions(session)[0]
            evict.begun_at, session.get(Job, late.number).state = self.now, JobState.PREEMPTING
        with mock.patch.object(self.store, "transaction", side_effect=RuntimeError):
            for _poll in range(10):
                self.now += 10
                self.assertRaises(RuntimeError, self.poll, gang)
        self.cloud.shelve.assert_not_called()
        self.now += 10
        self.poll(gang)
        self.cloud.delete.assert_not_called()
        self.assertEqual(len(gang), self.cloud.shelve.call_count)

    def test_what_the_guests_were_not_told_is_recorded_although_that_failed_once(self):
        """Peers whose addresses are more metadata than the quota of their project allows."""
        self.engine = self.make_engine(workers=OneByOne())
        job = self.running(peers=True)
        gang = builders.servers(job)
        self.now += ADDRESSES_DUE
        self.cloud.set_metadata.side_effect = CloudError("Maximum number of metadata items", 403)
        self.poll(gang)
        self.cloud.set_metadata.side_effect = None
        self.poll(gang)
        with mock.patch.object(self.store, "transaction", side_effect=RuntimeError):
            self.assertRaises(RuntimeError, self.poll, gang)
        self.poll(gang)
        self.poll(gang)
        self.assertEqual(1, self.kinds(job).count("peers"))

    def test_no_quota_is_no_trouble_of_others(self):
        """Of many jobs of a project without quota one is tried; the others wait with it."""
        quota = CloudError("Nova refused boot: Quota exceeded for cores (HTTP 403)", 403)

        def boot(job, _user_data, **_options):
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
            self.assertEqual(waits.QUOTA(resources="cores"), job.reason)
        self.assertEqual([1, 0], [self.store.job(one.number).setbacks for one in poor])
        self.poll()
        self.assertEqual([(ActionKind.START, rich.number)], self.opened())

    def test_a_new_manager_knows_who_waits_for_quota(self):
        """And the one that was refused tries again first."""
        quota = CloudError("Nova refused boot: Quota exceeded for cores (HTTP 403)", 403)
        self.cloud.boot.side_effect = quota
        first = self.store.submit(4, [1.0], at=1, project_id="a", trust_id="t")
        self.poll()
        self.refuse()
        other = self.store.submit(4, [1.0], at=2, project_id="a", trust_id="t")
        self.poll()
        written = self.store.job(other.number).revision
        start = [(ActionKind.START, first.number)]
        for wait, started in ((0.0, []), (2.0, start)):
            self.engine.close()
            self.engine = self.make_engine()
            self.now += wait
            self.poll()
            self.assertEqual(started, self.opened())
        for pause in (4.0, 8.0):
            self.refuse()
            self.assertEqual([], self.opened())
            self.now += pause
            self.poll()
            self.assertEqual(start, self.opened())
        kept = self.store.job(other.number)
        self.assertEqual((waits.QUOTA(resources="cores"), written), (kept.reason, kept.revision))

    def test_nobody_waits_for_a_job_without_quota_that_was_cancelled(self):
        self.cloud.boot.side_effect = CloudError("Nova refused boot: Quota exceeded for cores", 403)
        first = self.store.submit(4, [1.0], at=1, project_id="a", trust_id="t")
        self.poll()
        self.refuse()
        other = self.store.submit(4, [1.0], at=2, project_id="a", trust_id="t")
        self.poll()
        self.assertEqual([], self.opened())
        self.store.request_action(first.number, "cancel")
        self.poll()
        self.answered(2)  # its server group and its trust
        self.poll()
        self.assertEqual([(ActionKind.START, other.number)], self.opened())

    def refuse(self):
        """A start that was decided begins, and Nova refuses it."""
        self.poll()
        self.answered()
        for _poll in range(2):
            self.poll()
            self.now += 1

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

    def test_a_scavenger_does_not_start_in_the_foreground(self):
        """Although its class was changed while that was decided."""
        job = self.store.submit(2, [0.5], at=1)
        self.engine = self.make_engine(policy="amcbf")
        undisturbed = self.engine._decisions.decide

        def decide(*given):
            found = undisturbed(*given)
            changes.change(self.store, job.number, {"qos": "scavenger"}, may_extend=False)
            self.engine._decisions.decide = undisturbed
            return found

        self.engine._decisions.decide = decide
        self.poll()
        self.assertEqual([(ActionKind.START, job.number)], self.opened())
        self.poll()
        self.cloud.boot.assert_not_called()
        with self.store.reading() as session:
            tiers = [action.planned(StartPlan).tier for action in open_actions(session)]
        self.assertNotIn(Tier.FG, tiers)

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
            (JobState.FAILED, failures.SERVERS_GONE(missing=1, size=2)),
            (failed.state, failed.reason),
        )
        with self.store.reading() as session:
            [end] = session.query(Action).all()
            self.assertEqual(ActionState.DONE, end.state)
            self.assertEqual(0, session.get(Job, job.number).requeues)
