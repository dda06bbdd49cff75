"""The store on a SQLite file, and what it says of databases that cannot be."""

import os
import pathlib
import sqlite3
import sys
import threading
import time
from functools import partial
from unittest import mock

import fixtures
import testtools
from oslo_db.exception import DBError
from sqlalchemy import event, make_url

from nova_twotier import conf as config
from nova_twotier.api import queries
from nova_twotier.db import job_counts, learned, predictions, revisions, schedule, submissions
from nova_twotier.db.connection import translated_errors
from nova_twotier.db.models import Base, Job
from nova_twotier.db.open_jobs import OpenJobs
from nova_twotier.db.schedule import Marker, Window
from nova_twotier.db.selection import Selection
from nova_twotier.db.store import Store, StoreError, open_jobs, open_store
from tests.new_databases import new_store
from tests.unit.db.behaviour import StoreBehaviour
from tests.unit.db.changes_behaviour import ChangesBehaviour
from tests.unit.db.deliveries_behaviour import DeliveriesBehaviour
from tests.unit.db.drains_behaviour import DrainsBehaviour
from tests.unit.db.events_behaviour import EventsBehaviour
from tests.unit.db.job_counts_behaviour import JobCountsBehaviour
from tests.unit.db.learning_behaviour import LearningBehaviour
from tests.unit.db.open_jobs_behaviour import OpenJobsBehaviour
from tests.unit.db.revisions_behaviour import RevisionsBehaviour
from tests.unit.db.schedule_behaviour import ScheduleBehaviour
from tests.unit.db.upkeep_behaviour import UpkeepBehaviour
from tests.unit.db.usage_behaviour import UsageBehaviour
from tests.unit.db.utilisation_behaviour import UtilisationBehaviour


class TestStoreOnSqlite(
    *(ChangesBehaviour, DeliveriesBehaviour, OpenJobsBehaviour, StoreBehaviour, UpkeepBehaviour),
    *(JobCountsBehaviour, RevisionsBehaviour, ScheduleBehaviour, UsageBehaviour),
    *(DrainsBehaviour, EventsBehaviour, LearningBehaviour, UtilisationBehaviour),
    testtools.TestCase,
):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.store = new_store(self, f"sqlite:///{directory}/new/queue.sqlite")


class TestPlans(testtools.TestCase):
    """SQLite finds what is asked for by indexes: it does not read the history."""

    def setUp(self):
        super().setUp()
        self.store = new_store(self)

    def plans(self, read, *args):
        """How each statement of `read(session, ...)` is carried out."""

        def ask():
            with self.store.reading() as session:
                read(session, *args)

        return self.plans_of(ask)

    def plans_of(self, ask):
        """How each statement of `ask()` is carried out."""
        asked = []

        def listen(_connection, _cursor, statement, parameters, *_):
            if statement.startswith("SELECT"):
                asked.append((statement, parameters))

        engine = self.store._engine
        event.listen(engine, "before_cursor_execute", listen)
        ask()
        event.remove(engine, "before_cursor_execute", listen)
        plans = []
        with self.store.reading() as session:
            for statement, parameters in asked:
                rows = session.connection().exec_driver_sql(
                    f"EXPLAIN QUERY PLAN {statement}", parameters
                )
                plans.append([row.detail for row in rows])
        return plans

    def test_stays(self):
        for pool in (None, "gpu"):
            for window in (Window(5.0), Window(5.0, 9.0)):
                held, left, begun, *whole = self.plans(schedule.stays, window, pool, None, 10)
                self.assertIn("ix_place_until_since (until=? AND since<?)", held[0])
                # Without a look at the table, unless a pool is wanted.
                covering = "" if pool else "COVERING "
                self.assertEqual(
                    f"SEARCH place USING {covering}INDEX ix_place_until_since (until>?)", left[0]
                )
                self.assertIn("ix_place_since (since>?", begun[0])
                for name, plan in zip(("place", "job"), whole, strict=True):
                    self.assertIn(f"SEARCH {name} USING INTEGER PRIMARY KEY", plan[0])
                # The first page of a window is not sorted out of all that comes.
                self.assertNotIn("TEMP B-TREE", str(begun))
        after = Marker(7.0, 3)
        begun, *_whole = self.plans(schedule.stays, Window(5.0), None, after, 10)
        self.assertIn("ix_place_since (since>?", begun[0])

    def test_starts(self):
        for pool in (None, "gpu"):
            [plan] = self.plans(schedule.starts, Window(5.0), pool, None, 10)
            self.assertIn("SEARCH job USING INDEX ix_job_state (state=?)", plan)
            self.assertFalse([step for step in plan if step.startswith("SCAN")], plan)

    def test_numbers_of_jobs(self):
        for only in ((), ("p", None), (None, "gpu"), ("p", "gpu")):
            [plan] = self.plans(job_counts.by_pool_and_state, *only)
            of_jobs = [
                step for step in plan if step.split()[:2] in (["SCAN", "job"], ["SEARCH", "job"])
            ]
            self.assertEqual(1, len(of_jobs), plan)
            self.assertIn("ix_job_state (state=?)", of_jobs[0])

    def test_jobs_that_are_not_over(self):
        """Each poll and each prediction reads them; the history may be a thousand times as long."""
        learning = predictions.Calibrations.load({})
        for read, *args in (
            (OpenJobs("gpu").read,),
            (open_jobs, "gpu"),
            (open_jobs, None),
            (predictions.done, "gpu"),
            (predictions.write, "gpu", 0.0, [], learning),
        ):
            [plan] = self.plans(read, *args)
            self.assertIn("SEARCH job USING INDEX ix_job_state (state=?)", plan)
        self.store.submit(1, [1.0], pool="gpu")
        _revisions, fresh = self.plans(OpenJobs("gpu").read)
        self.assertRegex(fresh[0], r"ix_job_state \(state=\? AND rowid=\?\)|PRIMARY KEY")

    def test_predictions_that_are_not_judged(self):
        [plan] = self.plans(predictions.judge, "gpu", predictions.Calibrations.load({}))
        self.assertIn("SEARCH prediction USING INDEX ix_prediction_judged (judged<?)", plan)

    def test_the_last_jobs_that_ended(self):
        """The newest first, so that the others are not read."""
        [plan] = self.plans(predictions.ended, "gpu", 0.0, 10)
        self.assertIn("SEARCH job USING INDEX ix_job_finished_at (finished_at>?)", plan)
        self.assertNotIn("TEMP B-TREE", str(plan))

    def test_what_has_happened_since_a_moment_ago(self):
        for newest_first in (False, True):
            for project in ({}, {"project_id": "a"}):
                plans = self.plans_of(
                    partial(
                        queries.events, self.store, since=5.0, newest_first=newest_first, **project
                    )
                )
                counted, *found = plans
                self.assertIn("COVERING INDEX ix_event_at (at>?)", " ".join(counted))
                for plan in found:
                    self.assertRegex(plan[0], r"SEARCH event USING INDEX ix_event_(at|job) ")

    def test_pages_of_jobs(self):
        """They are not sorted out of all that come, whatever is asked for."""
        for index, asked in (
            ("SCAN job USING INDEX ix_job_submitted_at_number", {}),
            ("SCAN job USING INDEX ix_job_submitted_at_number", {"pool": "gpu"}),
            ("SCAN job USING INDEX ix_job_submitted_at_number", {"active": False}),
            ("SCAN job USING INDEX ix_job_submitted_at_number", {"states": ["finished"]}),
            ("ix_job_project_id_submitted_at_number (project_id=?)", {"project_id": "p"}),
            (
                "ix_job_project_id_submitted_at_number (project_id=?)",
                {"project_id": "p", "states": ["finished"], "pool": "gpu"},
            ),
        ):
            for newest_first in (False, True):
                page = {"newest_first": newest_first, "limit": 10}
                [plan] = self.plans_of(
                    lambda: self.store.jobs(selection=Selection(**asked), **page)  # noqa: B023
                )
                self.assertIn(index, plan[0], asked)
                self.assertNotIn("TEMP B-TREE", str(plan), asked)

    def test_lists_of_jobs_that_are_not_over(self):
        for asked in ({"active": True}, {"states": ["queued", "running"]}):
            for more in ({}, {"project_id": "p"}, {"pool": "gpu"}):
                selection = Selection(**asked, **more)
                [plan] = self.plans_of(lambda: self.store.jobs(selection=selection, limit=10))  # noqa: B023
                self.assertEqual("SEARCH job USING INDEX ix_job_state (state=?)", plan[0])

    def test_events_of_a_project(self):
        """Neither of the two queries reads the events of others."""
        _count, of_jobs, of_queue = self.plans_of(
            lambda: queries.events(self.store, project_id="p", newest_first=True, limit=10)
        )
        self.assertIn("(project_id=?)", of_jobs[0])
        self.assertEqual("SEARCH event USING INDEX ix_event_job (job=?)", of_jobs[1])
        self.assertEqual("SEARCH event USING INDEX ix_event_job (job=?)", of_queue[0])
        self.assertNotIn("TEMP B-TREE", str(of_queue))

    def test_events_of_a_project_with_many_jobs(self):
        """Those of all are read in order until there are enough: none are sorted."""
        self.store.submit(1, [1.0], project_id="p")
        with mock.patch.object(queries, "MANY_JOBS", 0):
            _count, of_jobs, _of_queue = self.plans_of(
                lambda: queries.events(self.store, project_id="p", newest_first=True, limit=10)
            )
        self.assertEqual("SCAN event", of_jobs[0])
        self.assertNotIn("TEMP B-TREE", str(of_jobs))

    def test_what_a_new_job_learns(self):
        """Of the jobs of its name the newest, and of them only what tells the kind."""
        job = Job(name="solver", project_id="p", user_id="u", flavor="slot", image="i")
        [plan] = self.plans(learned.learned, job)
        index = "ix_job_project_id_user_id_name_finished_at"
        self.assertIn(
            f"SEARCH job USING INDEX {index} (project_id=? AND user_id=? AND name=? AND "
            "finished_at>?)",
            plan,
        )
        self.assertIn("SEARCH job USING INTEGER PRIMARY KEY (rowid=?)", plan)

    def test_quotas(self):
        """One statement, in which a submission that becomes a job is one or the other."""
        [plan] = self.plans(submissions.count, "p")
        self.assertIn("SEARCH job USING INDEX ix_job_state (state=?)", plan)
        self.assertIn("SEARCH submission USING INDEX ix_submission_project_id (project_id=?)", plan)

    def test_the_revision(self):
        [plan] = self.plans(revisions.read, 10.0)
        read = {step.split()[1] for step in plan if step.split()[0] in ("SCAN", "SEARCH")}
        tables = read & set(Base.metadata.tables)
        # Of events the last ones, by their ids; there are few rows in the others.
        self.assertEqual({"event", "leader", "pool_prediction", "submission"}, tables)
        self.assertNotIn("SCAN event USING", str(plan))


class TestOpening(testtools.TestCase):
    def refused(self, url):
        return str(self.assertRaises(StoreError, Store, url, max_retries=0))

    def test_an_url_that_is_none(self):
        told = self.refused("secret:@there/")
        self.assertIn("[database]connection is not a URL", told)
        self.assertNotIn("secret", told)

    def test_an_url_whose_port_is_none(self):
        told = self.refused("mysql+pymysql://me:secret@there:x/twotier")
        self.assertIn("[database]connection is not a URL", told)
        self.assertNotIn("secret", told)

    def test_a_file_that_cannot_be(self):
        self.assertIn(
            "/proc/none/x.sqlite cannot be opened", self.refused("sqlite:////proc/none/x.sqlite")
        )

    def test_a_file_that_is_no_database(self):
        path = self.useFixture(fixtures.TempDir()).join("x.sqlite")
        with open(path, "w") as file:
            file.write("not a database, but long enough to look like one\n" * 100)
        self.assertIn("file is not a database", self.refused(f"sqlite:///{path}"))

    def test_a_server_that_does_not_answer(self):
        # Port 1 of the loopback: nobody listens there.
        told = self.refused("mysql+pymysql://me:secret@127.0.0.1:1/twotier")
        self.assertIn("database mysql+pymysql://me:***@127.0.0.1:1/twotier", told)
        self.assertEqual(1, len(told.splitlines()))
        self.assertNotIn("secret", told)

    def test_a_driver_that_is_not_there(self):
        self.assertIn("cannot be opened", self.refused("nosuch+driver://127.0.0.1/twotier"))

    def test_a_driver_that_is_not_installed(self):
        with mock.patch.dict(sys.modules, {"pymysql": None}):
            told = self.refused("mysql+pymysql://127.0.0.1/twotier")
        self.assertTrue(told.endswith(": pip install PyMySQL"), told)

    def test_a_file_of_somebody_else(self):
        url = make_url("sqlite:////var/lib/x.sqlite")
        cure = ".*: run it as the owner of the file$"
        with testtools.ExpectedException(StoreError, cure), translated_errors(url):
            raise DBError(sqlite3.OperationalError("attempt to write a readonly database"))

    def test_others_cannot_read_a_new_file(self):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).join("x.sqlite"))
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        store = Store(f"sqlite:///{path}")
        self.addCleanup(store.close)
        store.submit(1, [1.0])
        made = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
        self.assertEqual(dict.fromkeys(made, 0o640), made)
        self.assertIn("x.sqlite-wal", made)

    def test_from_the_configuration(self):
        directory = self.useFixture(fixtures.TempDir())
        with open(directory.join("x.conf"), "w") as file:
            file.write(f"[DEFAULT]\nstate_path = {directory.path}\n[database]\nmax_pool_size = 2\n")
        conf = config.load(["--config-file", directory.join("x.conf")], "twotier")
        store = open_store(conf, max_retries=0)
        self.addCleanup(store.close)
        store.submit(1, [1.0])
        again = Store(f"sqlite:///{directory.path}/twotier.sqlite")
        self.addCleanup(again.close)
        self.assertEqual(1, len(again.jobs()))


class TestWaits(testtools.TestCase):
    """How long the open sessions have been open, from which the manager tells a hang."""

    def setUp(self):
        super().setUp()
        path = self.useFixture(fixtures.TempDir()).path + "/queue.sqlite"
        self.store = Store(f"sqlite:///{path}")
        self.addCleanup(self.store.close)
        self.other = sqlite3.connect(path, isolation_level=None)
        self.addCleanup(self.other.close)

    def test_a_session_that_waits_for_another_writer(self):
        self.other.execute("BEGIN IMMEDIATE")
        thread = threading.Thread(target=self.store.submit, args=(1, [1.0]))
        thread.start()
        try:
            deadline = time.monotonic() + 60
            while self.store.waited() < 0.3:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            # That of others, which are quick, does not count instead.
            before = self.store.waited()
            self.assertEqual([], self.store.jobs())
            self.assertGreaterEqual(self.store.waited(), before)
        finally:
            self.other.execute("ROLLBACK")
            thread.join()
        self.assertEqual(0.0, self.store.waited())

    def test_those_of_others_are_told_apart(self):
        others = self.store.apart()
        with others.reading():
            self.assertGreater(others.waited(), 0.0)
            self.assertEqual(0.0, self.store.waited())
        with self.store.reading():
            self.assertEqual(0.0, others.waited())
        others.submit(1, [1.0])
        self.assertEqual(1, len(self.store.jobs()))

    def test_a_session_that_fails_is_over(self):
        for session in (self.store.transaction, self.store.reading):
            with testtools.ExpectedException(ZeroDivisionError), session():
                self.assertGreater(self.store.waited(), 0.0)
                raise ZeroDivisionError
            self.assertEqual(0.0, self.store.waited())
