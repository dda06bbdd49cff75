"""What the store does, on whatever database: run by a test case for each of them."""

import threading
import time
from concurrent import futures

import fixtures
from oslo_db.exception import DBError
from sqlalchemy import inspect

from nova_twotier.core.actions import Tier
from nova_twotier.core.jobs import UNKNOWN_CPU, InvalidJob
from nova_twotier.core.policies import UnknownPolicy
from nova_twotier.core.reasons import Effect, changes, failures, waits
from nova_twotier.db import drains, queue_policy, terms, time_shift
from nova_twotier.db.models import Action, Drain, Event, Job, Leader, Queue
from nova_twotier.db.plans import EndPlan, SwapPlan, TierChange
from nova_twotier.db.progress import Progress, Refusal, RequestKey
from nova_twotier.db.selection import Selection
from nova_twotier.db.states import ActionKind, ActionState, JobState, Preemption, QueueMode
from nova_twotier.db.store import NoSuchJob, NotStarted, QueueDraining, open_actions, open_jobs

#: Long enough for another thread to begin what it wants, and to be seen waiting.
MOMENT = 0.2


class StoreBehaviour:
    """Tests of `self.store`, a new one for each."""

    def numbers(self, limit=None, marker=None, newest_first=False, **selected):
        query = {"limit": limit, "marker": marker, "newest_first": newest_first}
        found = self.store.jobs(selection=Selection(**selected), **query)
        return [job.number for job in found]

    def test_a_job_is_kept_as_it_was_submitted(self):
        job = self.store.submit(
            2,
            [0.25, 1.0],
            "Größe 東京 😀",
            60.5,
            1790000000.123456,
            project_id="p" * 64,
            user_id="u",
            held=True,
        )
        for found in (self.store.job(job.number), self.store.find(job.uuid)):
            self.assertEqual([0.25, 1.0], found.cpu)
            self.assertEqual(1790000000.123456, found.submitted_at)
            self.assertEqual(
                ("Größe 東京 😀", 2, 60.5, "p" * 64, "u", True, JobState.QUEUED),
                (
                    found.name,
                    found.size,
                    found.estimate,
                    found.project_id,
                    found.user_id,
                    found.held,
                    found.state,
                ),
            )
            self.assertIsNone(found.started_at)

    def finish(self, job, **values):
        with self.store.transaction() as session:
            row = session.get(Job, job.number)
            for name, value in {"state": JobState.FINISHED, "finished_at": 9.0, **values}.items():
                setattr(row, name, value)

    def test_an_unknown_cpu_utilisation(self):
        job = self.store.job(self.store.submit(2, []).number)
        self.assertEqual(([], [UNKNOWN_CPU] * 2), (job.cpu, job.profile))
        self.assertEqual((UNKNOWN_CPU, UNKNOWN_CPU), job.core.cpu)
        job.measure({1: 0.2}, 1.0)
        self.assertEqual([UNKNOWN_CPU, 0.2], job.profile)
        self.assertEqual((UNKNOWN_CPU, 0.2), job.core.cpu)

    def test_what_a_job_boots_and_how_it_may_end_is_kept(self):
        said = {
            "pool": "gpu",
            "flavor": "größe",
            "image": "3c9b2a10-0000-4000-8000-000000000007",
            "networks": ["3c9b2a10-0000-4000-8000-000000000008"],
            "key_name": "k" * 255,
            "user_data": "A" * 65535,
            "keep_servers": True,
            "bandwidth": 100.5,
            "preemption": Preemption.SUSPEND,
            "checkpoint": True,
            "peers": True,
            "walltime": 3600.5,
            "retries": 2,
            "trust_id": "t" * 64,
        }
        number = self.store.submit(1, [1.0], **said).number
        job = self.store.job(number)
        self.assertEqual(said, {name: getattr(job, name) for name in said})

    def test_lists_do_without_the_long_columns(self):
        number = self.store.submit(2, [0.5], user_data="QUJD").number
        [listed] = self.store.jobs()
        self.assertLessEqual({"cpu", "user_data"}, inspect(listed).unloaded)
        found = self.store.job(number)
        self.assertEqual(([0.5, 0.5], "QUJD"), (found.cpu, found.user_data))

    def test_user_data_is_read_when_it_is_asked_for(self):
        number = self.store.submit(1, [1.0], user_data="QUJD").number
        with self.store.transaction() as session:
            [job] = open_jobs(session)
            self.assertEqual({"user_data"}, inspect(job).unloaded)
            job.reason = waits.TURN(7)
        self.assertEqual("QUJD", self.store.user_data(number))
        self.assertRaises(NoSuchJob, self.store.user_data, number + 1)

    def test_what_is_not_said_about_a_job(self):
        job = self.store.job(self.store.submit(1, [1.0]).number)
        self.assertEqual(
            ("", "", "", False, None),
            (job.name, job.project_id, job.user_id, job.held, job.requested_action),
        )
        self.assertEqual(
            ("default", Preemption.SHELVE, False, 0, 0.0),
            (job.pool, job.preemption, job.checkpoint, job.retries, job.bandwidth),
        )
        unsaid = ("flavor", "image", "networks", "key_name", "user_data", "walltime", "trust_id")
        self.assertEqual([None] * len(unsaid), [getattr(job, name) for name in unsaid])

    def test_what_cannot_be_a_job_is_not_stored(self):
        for size, cpu, name in ((0, 1.0, ""), (1, 2.0, ""), (1, 1.0, "n" * 256), (1, 1.0, "a\0")):
            self.assertRaises(InvalidJob, self.store.submit, size, [cpu], name)
        for field in ("pool", "flavor", "key_name"):
            self.assertRaises(InvalidJob, self.store.submit, 1, [1.0], **{field: "a\nb"})
        self.assertEqual([], self.store.jobs())
        self.assertEqual([], self.store.events())

    def test_order_is_that_of_submission(self):
        for at in (5.0, 3.0, 5.0, 4.0):
            self.store.submit(1, [1.0], at=at)
        self.assertEqual([2, 4, 1, 3], self.numbers())

    def test_pages(self):
        uuids = {}
        for at in (5.1, 3.1, 5.1, 4.1, 5.1):
            job = self.store.submit(1, [1.0], at=1790000000 + at)
            uuids[job.number] = job.uuid
        self.assertEqual([2, 4], self.numbers(limit=2))
        self.assertEqual([1, 3], self.numbers(limit=2, marker=uuids[4]))
        self.assertEqual([5], self.numbers(limit=2, marker=uuids[3]))
        self.assertEqual([], self.numbers(limit=2, marker=uuids[5]))
        self.assertRaises(NoSuchJob, self.store.jobs, marker="nobody")

    def test_pages_of_the_newest(self):
        uuids = {}
        for at in (5.1, 3.1, 5.1, 4.1, 5.1):
            job = self.store.submit(1, [1.0], at=1790000000 + at)
            uuids[job.number] = job.uuid
        self.assertEqual([5, 3], self.numbers(limit=2, newest_first=True))
        self.assertEqual([1, 4], self.numbers(limit=2, newest_first=True, marker=uuids[3]))
        self.assertEqual([2], self.numbers(limit=2, newest_first=True, marker=uuids[4]))
        self.assertEqual([], self.numbers(limit=2, newest_first=True, marker=uuids[2]))

    def test_filters(self):
        for project, name in (("a", "solver"), ("b", "solver"), ("a", "Solver"), ("a", "sölver")):
            self.store.submit(1, [1.0], name, project_id=project)
        with self.store.transaction() as session:
            session.get(Job, 3).state = JobState.RUNNING
        self.assertEqual([1, 3, 4], self.numbers(project_id="a"))
        self.assertEqual([1, 2], self.numbers(name="solver"))
        self.assertEqual([3], self.numbers(states=["running"]))
        self.assertEqual([1, 4], self.numbers(project_id="a", states=["queued"]))
        self.assertEqual([1], self.numbers(project_id="a", name="solver", states=["queued"]))
        self.assertEqual([], self.numbers(project_id="c"))
        self.assertEqual([], self.numbers(project_id=""))
        self.store.submit(1, [1.0], pool="gpu")
        self.assertEqual(([5], []), (self.numbers(pool="gpu"), self.numbers(pool="GPU")))

    def test_jobs_that_are_over(self):
        for _ in range(4):
            self.store.submit(1, [1.0], user_id="alice")
        self.store.submit(1, [1.0], user_id="bob")
        with self.store.transaction() as session:
            for number, at in ((2, 100.0), (3, 200.0)):
                job = session.get(Job, number)
                job.state, job.finished_at = JobState.FINISHED, at
            session.get(Job, 4).state = JobState.RUNNING
        self.assertEqual([1, 4, 5], self.numbers(active=True))
        self.assertEqual([2, 3], self.numbers(active=False))
        self.assertEqual([1, 3, 4, 5], self.numbers(since=200.0))
        self.assertEqual([2, 3, 4], self.numbers(states=["finished", "running"]))
        self.assertEqual([], self.numbers(active=False, states=["running"]))
        self.assertEqual([4], self.numbers(active=True, states=["finished", "running"]))
        self.assertEqual([5], self.numbers(user_id="bob"))
        uuids = [self.store.job(number).uuid for number in (2, 5)]
        self.assertEqual([2, 5], self.numbers(uuids=uuids))

    def test_names_with_blanks_at_their_ends(self):
        names = ("ä😀", "ä😀 ", " ä😀", "")
        for name in names:
            self.store.submit(1, [1.0], name)
        for number, name in enumerate(names, start=1):
            self.assertEqual([number], self.numbers(name=name), repr(name))

    def test_patterns_of_names(self):
        for name in ("solver-1", "solver-12", "Solver-1", "a%b", "a_b", "a[xy]b", "a/b", "axb"):
            self.store.submit(1, [1.0], name)
        for pattern, expected in {
            "solver-*": [1, 2],
            "*-1": [1, 3],
            "solver-?": [1],
            "solver-1": [1],
            "a%b": [4],
            "a_b": [5],
            "a[xy]b": [6],
            "a/b": [7],
            "a?b": [4, 5, 7, 8],
            "": [],
        }.items():
            self.assertEqual(expected, self.numbers(name_pattern=pattern), pattern)

    def test_another_projects_job_does_not_exist(self):
        job = self.store.submit(1, [1.0], project_id="a")
        told = []
        for uuid in (job.uuid, "00000000-0000-0000-0000-000000000000"):
            error = self.assertRaises(NoSuchJob, self.numbers, marker=uuid, project_id="b")
            told.append(str(error).replace(uuid, "X"))
        self.assertEqual(told[0], told[1])
        self.assertRaises(NoSuchJob, self.store.find, uuid)

    def test_whatever_is_asked_for_is_an_event(self):
        """By the last one a manager sees that there is something to do."""
        seen = [self.store.last_event()]
        number = self.store.submit(1, [1.0]).number
        for ask in (
            lambda: None,
            lambda: self.store.hold(number, True),
            lambda: self.store.hold(number, False),
            lambda: self.store.request_action(number, "cancel"),
            lambda: self.store.set_queue_mode("default", QueueMode.PAUSED),
        ):
            ask()
            seen.append(self.store.last_event())
        self.assertEqual(sorted(set(seen)), seen)
        self.assertEqual(seen[-1], self.store.last_event())

    def test_reasons(self):
        numbers = [self.store.submit(1, [1.0]).number for _ in range(2)]
        reason = waits.SLOTS(size=4, idle=2, later=1).led_to(Effect.SAVED)
        with self.store.transaction() as session:
            for number in numbers:
                session.get(Job, number).reason = reason
            session.add(Event(at=1.0, job=1, kind="evicted", reason=changes.PREEMPTED(2)))
        self.assertEqual([reason] * 2, [job.reason for job in self.store.jobs()])
        self.assertEqual([None], [each.reason for each in self.store.events(2)])
        self.assertIn(changes.PREEMPTED(2), [each.reason for each in self.store.events(1)])
        with self.store.transaction() as session:
            first, second = (session.get(Job, number) for number in numbers)
            first.reason, second.reason = waits.SLOTS(size=4, idle=2, later=1), reason
            self.assertTrue(inspect(first).modified)
            self.assertFalse(inspect(second).modified, "nothing has changed")
            second.reason = None
        jobs = [self.store.job(number) for number in numbers]
        self.assertEqual(["slots", None], [job.reason_code for job in jobs])
        self.assertEqual([waits.SLOTS(size=4, idle=2, later=1), None], [j.reason for j in jobs])

    def test_a_reason_of_a_newer_release(self):
        number = self.store.submit(1, [1.0]).number
        with self.store.transaction() as session:
            session.get(Job, number).reason_data = {"code": "gone fishing", "parameters": {"x": 1}}
        self.assertEqual("for the reason gone fishing", str(self.store.job(number).reason))

    def test_events(self):
        for at in (1.0, 2.0, 2.0):
            self.store.submit(1, [1.0], at=at)
        with self.store.transaction() as session:
            session.add(Event(at=1.5, job=2, kind="started", detail="x" * 5000))
        self.assertEqual([1, 2, 2, 3], [event.job for event in self.store.events()])
        self.assertEqual(["started", "submitted"], [event.kind for event in self.store.events(2)])
        self.assertEqual(5000, len(self.store.events(2)[0].detail))

    def test_a_wish(self):
        self.assertRaises(NoSuchJob, self.store.request_action, 1, "cancel")
        self.store.submit(1, [1.0])
        self.store.request_action(1, "cancel")
        self.assertEqual("cancel", self.store.job(1).requested_action)
        with self.store.transaction() as session:
            session.get(Job, 1).state = JobState.CANCELLED
        self.assertEqual("cancel", self.store.request_action(1, "complete").requested_action)

    def test_who_has_not_started_is_not_completed(self):
        self.store.submit(1, [1.0])
        self.assertRaises(NotStarted, self.store.request_action, 1, "complete")
        self.assertIsNone(self.store.job(1).requested_action)
        with self.store.transaction() as session:
            session.get(Job, 1).saved = True
        self.assertEqual("complete", self.store.request_action(1, "complete").requested_action)

    def test_an_event_tells_of_a_wish_once(self):
        self.store.submit(1, [1.0])
        with self.store.transaction() as session:
            session.get(Job, 1).state = JobState.RUNNING
        for action in ("complete", "complete", "cancel"):
            self.store.request_action(1, action)
        kinds = [event.kind for event in self.store.events(1)]
        self.assertEqual(["submitted", "asked to complete", "asked to cancel"], kinds)

    def test_hold_and_release(self):
        self.assertRaises(NoSuchJob, self.store.hold, 1, True)
        self.store.submit(1, [1.0])
        for held in (True, True, False):
            self.assertEqual(held, self.store.hold(1, held).held)
            self.assertEqual(held, self.store.job(1).held)
            self.assertEqual(waits.HELD() if held else None, self.store.job(1).reason)
        kinds = [event.kind for event in self.store.events(1)]
        self.assertEqual(["held", "released", "submitted"], sorted(kinds))

    def test_a_released_job_waits_behind_those_that_waited_meanwhile(self):
        held, other = self.store.submit(1, [1.0], at=1.0, held=True), self.store.submit(1, [1.0])
        self.store.hold(held.number, False)
        with self.store.reading() as session:
            waiting = open_jobs(session)
        self.assertEqual([other.number, held.number], [job.number for job in waiting])
        self.assertLess(waiting[0].core.order, waiting[1].core.order)
        self.assertEqual(1.0, waiting[1].submitted_at)

    def test_release_before_it_is_queued_again_leaves_its_turn(self):
        for state in (JobState.RUNNING, JobState.PREEMPTING, JobState.STARTING):
            job = self.store.submit(1, [1.0], at=1.0)
            with self.store.transaction() as session:
                session.get(Job, job.number).state = state
            self.store.hold(job.number, True)
            self.assertEqual(1.0, self.store.hold(job.number, False).eligible_at)

    def test_hold_of_a_running_job_leaves_its_reason(self):
        self.store.submit(1, [1.0])
        with self.store.transaction() as session:
            session.get(Job, 1).state = JobState.RUNNING
        job = self.store.hold(1, True)
        self.assertEqual((True, JobState.RUNNING, None), (job.held, job.state, job.reason))

    def test_hold_of_a_job_that_is_over(self):
        self.store.submit(1, [1.0])
        with self.store.transaction() as session:
            session.get(Job, 1).state = JobState.FINISHED
        self.assertFalse(self.store.hold(1, True).held)

    def test_largest_bandwidth(self):
        """Of all jobs of the pool, whatever became of them."""
        self.assertEqual(0, self.store.largest_bandwidth("default"))
        for mbps, pool in ((100.5, "default"), (300.0, "other"), (20.0, "default")):
            job = self.store.submit(1, [0.5], bandwidth=mbps, pool=pool)
            self.store.request_action(job.number, "cancel")
        self.assertEqual(100.5, self.store.largest_bandwidth("default"))

    def test_modes_of_queues(self):
        self.assertEqual(QueueMode.ACTIVE, self.store.queue_mode())
        for mode in (QueueMode.ACTIVE, QueueMode.PAUSED, QueueMode.PAUSED, QueueMode.DRAINING):
            self.store.set_queue_mode("default", mode)
            self.assertEqual(mode, self.store.queue_mode("default"))
        self.assertEqual(QueueMode.ACTIVE, self.store.queue_mode("gpu"))
        self.assertEqual(
            [(None, "queue paused", "pool default"), (None, "queue draining", "pool default")],
            [(event.job, event.kind, event.detail) for event in self.store.events()],
        )
        self.assertRaises(ValueError, self.store.set_queue_mode, "default", "asleep")

    def test_policies_of_queues(self):
        def policy(pool="default"):
            with self.store.reading() as session:
                return queue_policy.chosen(session, pool)

        self.store.set_queue_mode("default", QueueMode.PAUSED)
        self.assertIsNone(policy())
        for name in ("easy", "easy", "amcbf"):
            queue_policy.choose(self.store, "default", name)
            self.assertEqual(name, policy())
        self.assertIsNone(policy("gpu"))
        self.store.set_queue_mode("default", QueueMode.ACTIVE)
        self.assertEqual("amcbf", policy())
        queue_policy.choose(self.store, "default", None)
        self.assertIsNone(policy())
        told = [event.detail for event in self.store.events() if event.kind == queue_policy.CHOSEN]
        shown = ("easy", "amcbf", "as configured")
        self.assertEqual([f"pool default: {name}" for name in shown], told)
        self.assertRaises(UnknownPolicy, queue_policy.choose, self.store, "default", "easy++")

    def test_the_policy_in_use_is_the_leaders(self):
        def used():
            with self.store.reading() as session:
                return queue_policy.in_use(session, "default")

        self.assertIsNone(used())
        terms.begin(self.store, "default", "a:1")
        with self.store.transaction() as session:
            queue_policy.record_use(session, "default", "easy")
        self.assertEqual("easy", used())
        terms.begin(self.store, "default", "b:2")
        self.assertIsNone(used())

    def test_a_row_that_another_makes_meanwhile(self):
        """The second change is made to the row of the first: neither fails, nor is lost."""

        for first, change, outcome in (
            (
                Queue(pool="default", policy="easy", changed_at=1.0),
                lambda: self.store.set_queue_mode("default", QueueMode.PAUSED),
                lambda row: (row.mode, row.policy) == ("paused", "easy"),
            ),
            (
                Queue(pool="gpu", mode="draining", changed_at=1.0),
                lambda: queue_policy.choose(self.store, "gpu", "fcfs"),
                lambda row: (row.mode, row.policy) == ("draining", "fcfs"),
            ),
            (
                Drain(host="a", since=0.0, reason="fan", migrate=True),
                lambda: drains.drain(self.store, "a", 0.0, until=9.0),
                lambda row: (row.reason, row.migrate, row.until) == ("fan", True, 9.0),
            ),
            (
                Leader(pool="raced", name="a:1", term=1, since=1.0),
                lambda: terms.begin(self.store, "raced", "b:2"),
                lambda row: (row.name, row.term) == ("b:2", 2),
            ),
        ):
            with futures.ThreadPoolExecutor(1) as pool:
                with self.store.transaction() as session:
                    session.add(first)
                    session.flush()
                    second = pool.submit(change)
                    futures.wait([second], MOMENT)
                second.result(30)
            with self.store.reading() as session:
                row = session.get(type(first), inspect(first).identity)
                self.assertTrue(outcome(row), vars(row))

    def test_a_draining_queue_takes_no_jobs(self):
        self.store.set_queue_mode("default", QueueMode.PAUSED)
        self.store.submit(1, [1.0])
        self.store.set_queue_mode("default", QueueMode.DRAINING)
        error = self.assertRaises(QueueDraining, self.store.submit, 1, [1.0])
        self.assertEqual("default", error.pool)
        self.store.submit(1, [1.0], pool="gpu")
        self.assertEqual(["default", "gpu"], [job.pool for job in self.store.jobs()])

    def test_errors_do_not_tell_what_was_to_be_stored(self):
        logged = self.useFixture(fixtures.FakeLogger())
        first = self.store.submit(1, [1.0])

        def collide():
            with self.store.transaction() as session:
                session.add(
                    Job(uuid=first.uuid, size=1, cpu=[1.0], submitted_at=0, user_data="s3cret")
                )

        error = self.assertRaises(DBError, collide)
        self.assertNotIn("s3cret", f"{error} {logged.output}")

    def test_actions_keep_their_plans(self):
        self.store.submit(1, [1.0])
        change = TierChange(1, "u-u-i-d", 2, Tier.BG, ("vm1", "vm2"), by=7)
        why = failures.NO_POOL(pool="ü", pools="default")
        end = EndPlan(JobState.FAILED, why, 0.1, 7, lost=True, preempted=True)
        plan = SwapPlan((change,))
        refusal = Refusal(waits.QUOTA(resources="cores"), "no", unfit=True)
        undoing, waited = failures.OVERDUE(seconds=2.5, server="vm1"), waits.TURN(3, size=4)
        requests = {RequestKey("delete", "vm1"): 1}
        progress = Progress(requests, undoing, "no", refusal=refusal, waited_for=waited)
        with self.store.transaction() as session:
            session.add(
                Action(kind=ActionKind.SWAP, phase=2, job=1, plan=plan, created_at=1790000000.25)
            )
            session.add(Action(kind=ActionKind.END, phase=1, plan=end, created_at=2.0))
        with self.store.transaction() as session:
            action = open_actions(session)[1]
            action.progress = progress
        with self.store.reading() as session:
            ending, swap = open_actions(session)
            self.assertEqual((end, Progress()), (ending.plan, ending.progress))
            self.assertEqual((plan, progress), (swap.plan, swap.progress))
            self.assertEqual(1790000000.25, swap.created_at)

    def test_after_the_clock_was_set_all_has_lasted_as_long_as_before(self):
        running, waiting, elsewhere, over = (
            self.store.submit(1, [1.0], at=5.0, pool=pool) for pool in ("a", "a", "b", "a")
        )
        plan, why = EndPlan(JobState.FINISHED, None, 90.0), failures.SERVERS_OFF()
        with self.store.transaction() as session:
            for job in (running, elsewhere, over):
                row = session.get(Job, job.number)
                row.run_since, row.swapped_at, row.not_before = 10.0, 20.0, 120.0
                row.state = JobState.FINISHED if job is over else JobState.RUNNING
            for at in (95.0, None):
                action = Action(kind=ActionKind.END, pool="a", phase=0, job=running.number)
                action.state, action.begun_at, action.created_at = ActionState.EXPECTED, at, 90.0
                action.plan, action.progress = plan, Progress(booted_at=at, undoing=why)
                session.add(action)
        with self.store.transaction() as session:
            time_shift.shift(session, "a", 3600.0)
        rows = [self.store.job(job.number) for job in (running, waiting, elsewhere, over)]
        self.assertEqual(
            [(3610.0, 3620.0, 3720.0), (None, None, 0.0), *[(10.0, 20.0, 120.0)] * 2],
            [(row.run_since, row.swapped_at, row.not_before) for row in rows],
        )
        self.assertEqual([5.0] * 4, [row.eligible_at for row in rows])
        with self.store.reading() as session:
            begun, decided = open_actions(session)
        self.assertEqual((3695.0, 3690.0), (begun.begun_at, begun.plan.at))
        self.assertEqual(Progress(booted_at=3695.0, undoing=why), begun.progress)
        self.assertEqual((None, Progress(undoing=why)), (decided.begun_at, decided.progress))

    def test_a_transaction_that_fails_leaves_nothing(self):
        self.store.submit(1, [1.0])

        def change():
            with self.store.transaction() as session:
                [job] = open_jobs(session)
                job.state = JobState.RUNNING
                session.add(Event(at=1.0, job=job.number, kind="started"))
                session.flush()
                raise ZeroDivisionError

        self.assertRaises(ZeroDivisionError, change)
        self.assertEqual(JobState.QUEUED, self.store.job(1).state)
        self.assertEqual(["submitted"], [event.kind for event in self.store.events(1)])

    def test_a_wish_while_the_manager_looks(self):
        """Neither is lost: what the owner wants, and what the manager has read and then writes."""
        self.store.submit(1, [1.0])
        with futures.ThreadPoolExecutor(1) as pool:
            with self.store.transaction() as session:
                [job] = open_jobs(session)
                wished = pool.submit(self.store.request_action, 1, "cancel")
                futures.wait([wished], MOMENT)
                job.reason = waits.TURN(7)
            wished.result(30)
        job = self.store.job(1)
        self.assertEqual(("cancel", waits.TURN(7)), (job.requested_action, job.reason))

    def test_two_write_while_a_third_reads(self):
        done, counts, trouble = threading.Event(), [], []

        def read():
            try:
                while not done.is_set():
                    counts.append(len(self.store.jobs()))
                    time.sleep(0.001)
            except Exception as error:
                trouble.append(error)

        def write(name):
            return [self.store.submit(2, [0.5], f"{name}{i}").number for i in range(100)]

        reader = threading.Thread(target=read)
        reader.start()
        try:
            with futures.ThreadPoolExecutor(2) as pool:
                mine, others = pool.map(write, "ab")
        finally:
            done.set()
            reader.join(30)
        self.assertEqual([], trouble)
        self.assertEqual(200, len({*mine, *others}))
        jobs = self.store.jobs()
        self.assertEqual(
            {f"{name}{i}" for name in "ab" for i in range(100)}, {job.name for job in jobs}
        )
        self.assertEqual(200, len({job.uuid for job in jobs}))
        self.assertEqual({*mine, *others}, {event.job for event in self.store.events()})
        self.assertEqual(sorted(counts), counts)
        self.assertGreater(len(counts), 1)
