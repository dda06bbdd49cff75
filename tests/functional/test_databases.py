"""The store and its schema on MariaDB and PostgreSQL.

They make databases of their own on the server at its standard port of this machine, as somebody
who needs no password; where there is none, they are skipped.
"""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from concurrent import futures
from unittest import mock

import testtools
from sqlalchemy import URL, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError

from nova_twotier import conf as config
from nova_twotier.api import queries, servers
from nova_twotier.audit import records
from nova_twotier.cmd import manager
from nova_twotier.db import migration
from nova_twotier.db.connection import StoreError, connect
from nova_twotier.db.models import Action, Event, Place
from nova_twotier.db.plans import EndPlan
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.db.store import Store, open_store
from nova_twotier.tools.fakecloud import database
from tests.unit.cmd.test_manager import COMPLETE
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
from tests.unit.db.schema_behaviour import SchemaBehaviour
from tests.unit.db.upkeep_behaviour import UpkeepBehaviour
from tests.unit.db.usage_behaviour import UsageBehaviour
from tests.unit.db.utilisation_behaviour import UtilisationBehaviour


@contextlib.contextmanager
def configured(url):
    """A configuration file that names the database, in a directory of its own."""
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "nova-twotier.conf")
        connection = url.render_as_string(hide_password=False)
        file.write_text(
            f"[DEFAULT]\nstate_path = {directory}\n[database]\nconnection = {connection}\n"
        )
        yield str(file)


class Server(testtools.TestCase):
    """Databases on the server at `ADDRESS`."""

    @classmethod
    def make_database(cls):
        """The address of a new, empty database."""
        url = cls.ADDRESS.set(database=f"twotier_test_{uuid.uuid4().hex}")
        try:
            cls.administer(f"CREATE DATABASE {url.database}")
        except SQLAlchemyError as error:
            raise unittest.SkipTest(
                f"no database can be made at {cls.ADDRESS}: {error}".splitlines()[0]
            ) from error
        return url

    @classmethod
    def drop_database(cls, url):
        cls.administer(f"DROP DATABASE {url.database}")

    @classmethod
    def administer(cls, statement):
        engine = create_engine(cls.ADDRESS, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                connection.execute(text(statement))
        finally:
            engine.dispose()


class Mariadb(Server):
    ADDRESS = URL.create("mysql+pymysql", "root", host="127.0.0.1", port=3306)
    EMPTY = (
        "DELETE FROM delivery",
        "DELETE FROM drain",
        "DELETE FROM ended_jobs",
        "DELETE FROM event",
        "DELETE FROM action",
        "DELETE FROM place",
        "DELETE FROM pool_prediction",
        "DELETE FROM prediction",
        "DELETE FROM project",
        "DELETE FROM queue",
        "DELETE FROM server",
        "DELETE FROM dead_host",
        "DELETE FROM submission",
        "DELETE FROM usage_day",
        "DELETE FROM utilisation",
        "DELETE FROM job",
        "ALTER TABLE job AUTO_INCREMENT = 1",
    )


class Postgresql(Server):
    ADDRESS = URL.create(
        "postgresql+psycopg", "postgres", host="127.0.0.1", port=5432, database="postgres"
    )
    EMPTY = (
        "TRUNCATE job, action, dead_host, delivery, drain, ended_jobs, event, place, "
        "pool_prediction, prediction, project, queue, server, submission, usage_day, utilisation "
        "RESTART IDENTITY",
    )


class WithStore(
    *(ChangesBehaviour, DeliveriesBehaviour, OpenJobsBehaviour, StoreBehaviour, UpkeepBehaviour),
    *(JobCountsBehaviour, RevisionsBehaviour, ScheduleBehaviour, UsageBehaviour),
    *(DrainsBehaviour, EventsBehaviour, LearningBehaviour, UtilisationBehaviour),
):
    """The store on one database for all tests: to make one takes longer than most of them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.database = cls.make_database()
        cls.addClassCleanup(cls.drop_database, cls.database)
        engine = connect(cls.database)
        migration.upgrade(engine)
        engine.dispose()

    def setUp(self):
        super().setUp()
        self.store = Store(self.database)
        self.addCleanup(self.store.close)
        with self.store.transaction() as session:
            for statement in self.EMPTY:
                session.execute(text(statement))

    def test_from_the_configuration(self):
        with configured(self.database) as file:
            conf = config.load(["--config-file", file], "twotier")
        store = open_store(conf, max_retries=0)
        self.addCleanup(store.close)
        self.assertEqual(1, store.submit(1, [1.0]).number)
        self.assertEqual([1], [job.number for job in self.store.jobs()])

    def test_of_events_written_at_once_the_higher_may_show_first(self):
        """Why who polls asks by time, with an overlap (doc/api.md)."""
        with self.store.transaction() as slow:
            slow.add(Event(at=1.0, kind="slow"))
            slow.flush()
            with self.store.transaction() as quick:
                quick.add(Event(at=2.0, kind="quick"))
            [seen] = [event for event, _job in queries.events(self.store)]
        self.assertEqual([], queries.events(self.store, after=seen.id))
        found = [event.kind for event, _job in queries.events(self.store, since=seen.at - 60)]
        self.assertEqual(["slow", "quick"], found)

    def test_a_task_of_an_array_whose_number_is_too_large(self):
        self.assertEqual([], queries.task(self.store, 9999999999, 0))
        self.assertEqual([], queries.task(self.store, 1, 2**31))

    def test_what_the_places_of_a_job_tell(self):
        job = self.store.submit(2, [0.5])
        with self.store.transaction() as session:
            session.merge(job).started_at = 10.0
            for process in (1, 0):
                common = {"job": job.number, "process": process, "server": str(process)}
                session.add(Place(host="a", tier="bg", since=10.0, until=20.25, **common))
                session.flush()
                session.add(Place(host="b", tier="fg", since=20.25, until=30.0, **common))
        shown = servers.fields(self.store, self.store.job(job.number), hosts=True)
        self.assertEqual((9.75, 10.25), (shown["foreground_elapsed"], shown["background_elapsed"]))
        self.assertIsInstance(shown["foreground_elapsed"], float)
        self.assertEqual(
            [("tt-1-1", "0", "b", "fg"), ("tt-1-2", "1", "b", "fg")],
            [
                tuple(server[name] for name in ("name", "uuid", "host", "tier"))
                for server in shown["servers"]
            ],
        )

    def test_what_an_audit_reads_is_of_one_moment(self):
        job, read = self.store.submit(1, [0.5]), records.open_actions

        def read_late(session):
            end = EndPlan(JobState.FINISHED, None, 1.0)
            with self.store.transaction() as other:
                action = Action(kind=ActionKind.END, phase=1, job=job.number, plan=end)
                action.created_at = 1.0
                other.add(action)
            return read(session)

        with mock.patch.object(records, "open_actions", read_late):
            self.assertFalse(records.job_records(self.store, 30.0)[job.uuid].under_way)
        self.assertTrue(records.job_records(self.store, 30.0)[job.uuid].under_way)


class TestStoreOnMariadb(WithStore, Mariadb):
    def test_a_connection_that_the_server_has_closed_is_made_anew(self):
        with self.store.reading() as session:
            thread = session.scalar(text("SELECT CONNECTION_ID()"))
        self.administer(f"KILL {thread}")
        self.assertEqual(1, self.store.submit(1, [1.0]).number)


class TestStoreOnPostgresql(WithStore, Postgresql):
    def test_a_connection_that_the_server_has_closed_is_made_anew(self):
        with self.store.reading() as session:
            process = session.scalar(text("SELECT pg_backend_pid()"))
        self.administer(f"SELECT pg_terminate_backend({process})")
        self.assertEqual(1, self.store.submit(1, [1.0]).number)


class OnServer(SchemaBehaviour):
    """The schema of a server: it is upgraded by its operator only."""

    def setUp(self):
        super().setUp()
        self.url = self.make_database()
        self.addCleanup(self.drop_database, self.url)

    def test_an_outdated_schema_is_refused(self):
        self.first_schema(versioned=True)
        told = str(self.assertRaises(StoreError, Store, self.url))
        self.assertIn(f"is of schema {migration.FIRST}, not {migration.NEWEST}", told)
        self.assertIn("make a backup, then run: twotier-manage db upgrade", told)
        self.assertEqual(migration.FIRST, migration.version(self.engine()))

    def test_the_manager_does_not_start_on_it(self):
        self.first_schema(versioned=True)
        error = io.StringIO()
        with configured(self.url) as file, contextlib.redirect_stderr(error):
            with pathlib.Path(file).open("a") as conf:
                conf.write(COMPLETE)
            self.assertEqual(1, manager.main(["--config-file", file]))
        said = [line for line in error.getvalue().splitlines() if line.startswith("twotier-m")]
        self.assertEqual(1, len(said))
        self.assertIn("then run: twotier-manage db upgrade", said[0])

    def test_of_two_upgrades_at_once_one_waits(self):
        """As when each node of a deployment runs it."""
        engine = self.with_sums()
        upgrade = [sys.executable, "-m", "nova_twotier.cmd.manage", "db", "upgrade"]
        with configured(self.url) as file:
            running = [
                subprocess.Popen(
                    [*upgrade, "--config-file", file],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                for _ in range(2)
            ]
            said = [each.communicate(timeout=180)[0] for each in running]
        self.assertEqual([0, 0], [each.returncode for each in running], said)
        self.check_sums_without_class(engine)

    def test_the_fake_cloud_fills_an_empty_database_and_no_other(self):
        with configured(self.url) as file:
            database.fill(pathlib.Path(file))
            self.assertEqual(migration.NEWEST, migration.version(self.engine()))
            with self.engine().begin() as connection:
                connection.execute(text("UPDATE alembic_version SET version_num = '0024'"))
            database.fill(pathlib.Path(file))
        self.assertEqual("0024", migration.version(self.engine()))

    def test_an_empty_database_is_refused(self):
        told = str(self.assertRaises(StoreError, Store, self.url))
        self.assertIn("is empty; run: twotier-manage db upgrade", told)
        self.assertIsNone(migration.version(self.engine()))


class TestSchemaOnMariadb(OnServer, Mariadb):
    def test_a_server_that_refuses_locks_is_upgraded(self):
        """Some Galera clusters refuse GET_LOCK; the upgrade does without it."""
        engine = self.engine()

        @event.listens_for(engine, "before_cursor_execute", retval=True)
        def refuse(_connection, _cursor, statement, parameters, *_rest):
            return statement.replace("get_lock", "no_such_function"), parameters

        migration.upgrade(engine)
        self.assertEqual(migration.NEWEST, migration.version(engine))

    def test_one_that_loses_its_connection_does_not_go_on_beside_the_other(self):
        """As behind a proxy that closes connections on which nothing is sent for a minute."""
        first, second = self.engine(), self.engine()
        lost = []

        @event.listens_for(first, "before_cursor_execute")
        def lose_the_second(_connection, _cursor, statement, *_rest):
            if not lost and "CREATE TABLE" in statement:
                lost.append(pool.submit(migration.upgrade, second))
                self.kill_who_waits(first)
                self.assertIsInstance(lost[0].exception(60), StoreError)

        with futures.ThreadPoolExecutor(1) as pool:
            migration.upgrade(first)
        self.assertEqual(1, len(lost))
        self.assertEqual(migration.NEWEST, migration.version(first))

    def kill_who_waits(self, engine):
        query = text(
            "SELECT id FROM information_schema.processlist WHERE db = :db AND state = 'User lock'"
        )
        deadline = time.monotonic() + 60
        while True:
            with engine.connect() as connection:
                waiting = connection.scalar(query, {"db": self.url.database})
            if waiting is not None:
                break
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.administer(f"KILL {waiting}")


class TestSchemaOnPostgresql(OnServer, Postgresql):
    pass
