"""Submissions, and what is deleted when it is over, on whatever database: run by a test case for
each of them."""

import threading
import time
from concurrent import futures

from sqlalchemy import select, update

from nova_twotier.core.reasons import changes
from nova_twotier.db import drains, purge, submissions
from nova_twotier.db.models import Action, Drain, Event, Job, JobServer, Place, Submission
from nova_twotier.db.plans import EvictPlan, SwapPlan
from nova_twotier.db.states import OVER, ActionKind, ActionState, JobState
from nova_twotier.db.store import SubmissionLapsed

DAY = 86400.0


class Refused(Exception):
    pass


class UpkeepBehaviour:
    """Tests of `self.store`, a new one for each."""

    def test_purging_deletes_the_drains_that_are_over(self):
        for host, until in (("a", 10.0), ("b", 30.0), ("c", None)):
            drains.drain(self.store, host, now=0.0, until=until)
        purge.purge(self.store, before=20.0, dry_run=True)
        self.assertEqual({"a", "b", "c"}, self.drained())
        purge.purge(self.store, before=20.0)
        self.assertEqual({"b", "c"}, self.drained())

    def drained(self):
        with self.store.reading() as session:
            return set(session.scalars(select(Drain.host)))

    # Submissions

    def begin(self, size=1, project="a", seen=None):
        counts = [] if seen is None else seen
        admit = lambda *count: counts.append(count)  # noqa: E731
        return submissions.begin(self.store, project, size, admit)

    def counted(self, project="a"):
        with self.store.reading() as session:
            return submissions.count(session, project)

    def lapse(self, uuid):
        with self.store.transaction() as session:
            session.get(Submission, uuid).since -= submissions.LAPSED + 1

    def test_counts_open_jobs_and_their_processes(self):
        for size, project in ((2, "a"), (3, "a"), (4, "a"), (8, "b")):
            self.store.submit(size, [1.0], project_id=project)
        with self.store.transaction() as session:
            session.get(Job, 2).state = JobState.FINISHED
        self.assertEqual((2, 6), self.counted("a"))
        self.assertEqual((0, 0), self.counted("c"))

    def test_a_submission_counts_until_it_is_a_job_or_none(self):
        self.store.submit(2, [1.0], project_id="a")
        seen = []
        became, withdrawn, abandoned, lapsed = (self.begin(3, seen=seen) for _each in range(4))
        self.assertEqual([(1, 2), (2, 5), (3, 8), (4, 11)], seen)
        self.assertEqual(((5, 14), (0, 0)), (self.counted("a"), self.counted("b")))
        job = self.store.submit(3, [1.0], project_id="a", submission=became)
        self.assertEqual((became, (5, 14)), (job.uuid, self.counted()))
        submissions.withdraw(self.store, [withdrawn])
        submissions.abandon(self.store, abandoned)
        self.lapse(lapsed)
        self.assertEqual((2, 5), self.counted())

    def test_what_has_no_room_is_not_recorded(self):
        def admit(_jobs, _processes):
            raise Refused

        self.assertRaises(Refused, submissions.begin, self.store, "a", 1, admit)
        self.assertEqual((0, 0), self.counted())

    def test_of_submissions_at_once_none_is_beyond_the_limit(self):
        """Each counts what the one before has recorded, or has made a job of."""

        def admit(jobs, _processes):
            time.sleep(0.05)  # others count meanwhile, unless they wait
            if jobs >= 3:
                raise Refused

        def submit(_each):
            try:
                uuid = submissions.begin(self.store, "a", 1, admit)
            except Refused:
                return 0
            self.store.submit(1, [1.0], project_id="a", submission=uuid)
            return 1

        with futures.ThreadPoolExecutor(8) as workers:
            self.assertEqual(3, sum(workers.map(submit, range(8))))
        self.assertEqual((3, 3), self.counted())

    def test_what_was_given_up_becomes_no_job(self):
        under_way, abandoned, lapsed = (self.begin() for _each in range(3))
        submissions.abandon(self.store, abandoned)
        self.lapse(lapsed)
        self.assertEqual({lapsed}, submissions.lapsed(self.store))
        self.assertEqual({lapsed}, submissions.abandon_lapsed(self.store))
        for uuid in (abandoned, lapsed, "unknown"):
            self.assertRaises(
                SubmissionLapsed, self.store.submit, 1, [1.0], project_id="a", submission=uuid
            )
        self.store.submit(1, [1.0], project_id="a", submission=under_way)
        self.assertEqual([under_way], [job.uuid for job in self.store.jobs()])

    def test_one_that_lapses_while_it_becomes_a_job_is_one_or_the_other(self):
        for _each in range(10):
            uuid = self.begin()
            self.lapse(uuid)
            swept = []
            sweeper = threading.Thread(
                target=lambda: swept.extend(submissions.abandon_lapsed(self.store))  # noqa: B023
            )
            sweeper.start()
            try:
                self.store.submit(1, [1.0], submission=uuid)
                became = True
            except SubmissionLapsed:
                became = False
            sweeper.join()
            self.assertNotEqual(became, uuid in swept)
            submissions.withdraw(self.store, [uuid])

    # User data

    def test_user_data_goes_with_the_end_of_the_job(self):
        for state in JobState:
            number = self.store.submit(1, [1.0], user_data="QUJD").number
            with self.store.transaction() as session:
                session.get(Job, number).state = state
            expected = None if state in OVER else "QUJD"
            self.assertEqual(expected, self.store.user_data(number), state)

    # Purging

    def record(self, age, state=JobState.FINISHED, actions=ActionState.DONE, until=1.0):
        """A job that was over so many days ago, with three events, an action, and a place."""
        at = time.time() - age * DAY
        job = self.store.submit(1, [1.0], at=at)
        with self.store.transaction() as session:
            row = session.get(Job, job.number)
            row.state, row.finished_at = state, at if state in OVER else None
            session.add_all(Event(at=at, job=job.number, kind=kind) for kind in ("started", "over"))
            session.add(
                Action(
                    kind=ActionKind.START,
                    phase=1,
                    job=job.number,
                    plan=EvictPlan(changes.PREEMPTED(9)),
                    state=actions,
                    created_at=at,
                )
            )
            session.add(
                Place(
                    job=job.number,
                    process=0,
                    server="s",
                    host="h",
                    tier="fg",
                    since=at,
                    until=until,
                )
            )
        return job.number

    def purge(self, days, **options):
        return purge.purge(self.store, time.time() - days * DAY, pause=lambda _s: None, **options)

    def numbers_left(self):
        return [job.number for job in self.store.jobs()]

    def test_purge_deletes_what_is_old_and_over(self):
        for state in OVER:
            self.record(40, state)
        queued = self.record(40, JobState.QUEUED)
        running = self.record(40, JobState.RUNNING)
        recent = self.record(20)
        with self.store.transaction() as session:
            for age in (40, 20):
                session.add(Event(at=time.time() - age * DAY, kind="queue paused"))
        expected = purge.Purged(jobs=3, events=10, actions=3, places=3)
        self.assertEqual(expected, self.purge(30, dry_run=True))
        self.assertEqual(6, len(self.numbers_left()))
        self.assertEqual(expected, self.purge(30))
        self.assertEqual([queued, running, recent], sorted(self.numbers_left()))
        with self.store.reading() as session:
            for table, rows in ((Event, 10), (Action, 3), (Place, 3)):
                self.assertEqual(rows, len(session.scalars(select(table)).all()), table)
        self.assertEqual(purge.Purged(), self.purge(30))

    def test_purge_deletes_swaps_which_are_no_single_jobs(self):
        for state, closed_at in (
            (ActionState.DONE, 50.0),
            (ActionState.DONE, 150.0),
            (ActionState.EXPECTED, None),
        ):
            swap = Action(kind=ActionKind.SWAP, phase=2, plan=SwapPlan(()), created_at=40.0)
            swap.state, swap.closed_at = state, closed_at
            with self.store.transaction() as session:
                session.add(swap)
        for dry_run in (True, False):
            self.assertEqual(1, purge.purge(self.store, 100.0, dry_run, lambda _s: None).actions)
        with self.store.reading() as session:
            self.assertEqual([150.0, None], list(session.scalars(select(Action.closed_at))))

    def test_purge_goes_in_steps_between_which_others_write(self):
        for _each in range(purge.BATCH + 1):
            self.store.submit(1, [1.0])
        with self.store.transaction() as session:
            session.execute(update(Job).values(state=JobState.FAILED, finished_at=1.0))
        written = []

        def pause(_seconds):
            written.append(self.store.submit(1, [1.0]).number)

        # The first of those written is the newest job then, so that all the others may go.
        self.store.submit(1, [1.0])
        purged = purge.purge(self.store, 2.0, pause=pause)
        self.assertEqual(purge.BATCH + 1, purged.jobs)
        self.assertEqual(2, len(written))

    def test_purge_leaves_the_numbers_that_would_be_given_again(self):
        old, newest = self.record(40), self.record(40)
        with self.store.transaction() as session:
            session.add(Event(at=1.0, job=old, kind="newest"))
        last = self.store.last_event()
        self.assertEqual(0, self.purge(30).jobs)
        self.assertEqual([old, newest], sorted(self.numbers_left()))
        self.store.submit(1, [1.0])
        self.assertEqual(2, self.purge(30).jobs)
        self.assertGreater(self.store.last_event(), last)

    def test_purge_deletes_the_servers_of_jobs_that_no_manager_sees_to(self):
        old = self.record(40)
        newest = self.record(1)
        with self.store.transaction() as session:
            session.add_all(JobServer(id=f"of {job}", job=job) for job in (old, newest))
        for dry_run in (True, False):
            self.assertEqual(1, self.purge(30, dry_run=dry_run).jobs)
        with self.store.reading() as session:
            self.assertEqual([newest], list(session.scalars(select(JobServer.job))))

    def test_purge_leaves_what_the_manager_is_not_done_with(self):
        acting = self.record(40, actions=ActionState.EXPECTED)
        placed = self.record(40, until=None)
        newest = self.record(1)
        self.assertEqual(0, self.purge(30).jobs)
        self.assertEqual([acting, placed, newest], sorted(self.numbers_left()))
