"""How the schema gets up to date, on whatever database: run by a test case for each of them."""

from typing import ClassVar

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import JSON, Column, String, Text, column, insert, inspect, select, table, text
from sqlalchemy.orm import Session

from nova_twotier.core.reasons import LEGACY, changes, waits
from nova_twotier.db import job_counts, migration, usage
from nova_twotier.db.connection import StoreError, connect
from nova_twotier.db.models import Action, Base, Job, Place
from nova_twotier.db.plans import EvictPlan
from nova_twotier.db.progress import Progress, RequestKey
from nova_twotier.db.store import Store
from nova_twotier.db.usage import By

#: A job as the first schema had it.
JOB = {
    "uuid": "3c9b2a10-0000-4000-8000-000000000007",
    "name": "solver",
    "size": 2,
    "cpu": [0.5, 0.25],
    "submitted_at": 1790000000.5,
    "state": "queued",
    "saved": True,
    "reason": "waits",
    "not_before": 0.0,
    "failures": 1,
    "evictions": 2,
    "restores": 1,
    "swaps": 0,
    "migrations": 0,
}

#: An eviction as it was recorded up to schema 0005.
OLD_ACTION = {
    "kind": "evict",
    "phase": 1,
    "job": 1,
    "plan": {"by": "job 2"},
    "begun": {"vm1": 1, "told": "gone"},
    "reason": "",
    "created_at": 4.0,
}

#: What every job needs in schema 0011.
_REQUIRED = {name: value for name, value in JOB.items() if name != "reason"}


def _texts(rows):
    return [str(row.reason or "") for row in rows]


class SchemaSteps:
    """Brings the database at `self.url` to the schema of an earlier release."""

    def engine(self):
        engine = connect(self.url)
        self.addCleanup(engine.dispose)
        return engine

    @staticmethod
    def upgrade_to(connection, version):
        config = Config()
        config.set_main_option("script_location", migration.SCRIPTS)
        config.attributes["connection"] = connection
        command.upgrade(config, version)


class SchemaBehaviour(SchemaSteps):
    """Tests of the empty database at `self.url`."""

    def first_schema(self, versioned):
        """The database as the first version made it, with a job in it."""
        engine = self.engine()
        with engine.begin() as connection:
            self.upgrade_to(connection, migration.FIRST)
            if not versioned:
                connection.execute(text("DROP TABLE alembic_version"))
            there = [each["name"] for each in inspect(connection).get_columns("job")]
            self.assertNotIn("project_id", there)
            types = {each.name: each.type for each in Job.__table__.columns}
            values = [column(name, types.get(name, Text)) for name in JOB]
            connection.execute(insert(table("job", *values)), JOB)
        return engine

    def upgraded(self, engine):
        migration.upgrade(engine)
        self.assertEqual(migration.NEWEST, migration.version(engine))
        store = Store(self.url)
        self.addCleanup(store.close)
        job = store.job(1)
        self.assertEqual([1], [each.number for each in store.jobs()])
        kept = {name: getattr(job, name) for name in JOB if name != "reason"}
        self.assertEqual({name: value for name, value in JOB.items() if name != "reason"}, kept)
        self.assertEqual(("other", "waits"), (job.reason_code, str(job.reason)))
        self.assertEqual(job.submitted_at, job.eligible_at)
        self.assertEqual(("", "", False), (job.project_id, job.user_id, job.held))
        self.assertEqual(2, store.submit(1, [1.0], project_id="p").number)

    def test_migrations_lead_to_the_models(self):
        engine = self.engine()
        self.assertIsNone(migration.version(engine))
        migration.upgrade(engine)
        with engine.connect() as connection:
            found = compare_metadata(MigrationContext.configure(connection), Base.metadata)
        self.assertEqual([], found)
        self.assertEqual(migration.NEWEST, migration.version(engine))

    def test_upgrade_twice(self):
        engine = self.engine()
        for _ in range(2):
            migration.upgrade(engine)
            self.assertEqual(migration.NEWEST, migration.version(engine))

    def test_upgrade_keeps_what_is_stored(self):
        self.upgraded(self.first_schema(versioned=True))

    def with_old_actions(self):
        """The database before open actions got named fields: one is open, one is closed."""
        engine = self.first_schema(versioned=True)
        with engine.begin() as connection:
            self.upgrade_to(connection, "0005")
            columns = Action.__table__.columns
            names = OLD_ACTION.keys() | {"state"}
            values = [column(each.name, each.type) for each in columns if each.name in names]
            old = [{**OLD_ACTION, "state": state} for state in ("expected", "done")]
            connection.execute(insert(table("action", *values)), old)
        return engine

    def check_old_actions(self, engine):
        migration.upgrade(engine)
        self.assertEqual(migration.NEWEST, migration.version(engine))
        with Session(engine) as session:
            open_one, closed = session.scalars(select(Action).order_by(Action.id))
            self.assertEqual(EvictPlan(changes.PREEMPTED(2)), open_one.plan)
            attempts = {RequestKey("save", "vm1"): 1}
            self.assertEqual(Progress(attempts), open_one.progress)
            kept = (OLD_ACTION["plan"], OLD_ACTION["begun"])
            self.assertEqual(kept, (closed.plan_data, closed.progress_data))

    def test_only_open_actions_are_converted(self):
        self.check_old_actions(self.with_old_actions())

    def test_a_conversion_that_was_broken_off_is_begun_anew(self):
        """MariaDB keeps what it did to the tables, and nothing else."""
        engine = self.with_old_actions()
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE job RENAME COLUMN wish TO requested_action"))
        self.check_old_actions(engine)

    def test_migrations_are_begun_anew(self):
        """As on MariaDB, where only the version tells that they were not done to their end."""
        engine = self.engine()
        early = ("0006", "0007", "0008", "0009", "0010", "0011")
        for version in (*early, "0026", "0027", "0028", "0029"):
            migration.upgrade(engine)
            with engine.begin() as connection:
                known = table("alembic_version", column("version_num"))
                connection.execute(known.update().values(version_num=version))
            migration.upgrade(engine)
            self.assertEqual(migration.NEWEST, migration.version(engine))

    def test_what_was_lost_before_is_known_from_the_events(self):
        engine = self.engine()
        with engine.begin() as connection:
            self.upgrade_to(connection, "0013")
            columns = [column(name, Job.__table__.columns[name].type) for name in _REQUIRED]
            jobs = [{**_REQUIRED, "uuid": str(number), "reason": ""} for number in range(3)]
            connection.execute(insert(table("job", *columns, column("reason", Text))), jobs)
            names = [column(name) for name in ("at", "job", "kind", "detail")]
            events = [
                {"at": at, "job": job, "kind": kind, "detail": ""}
                for at, job, kind in (
                    (1.0, 1, "started"),
                    (2.0, 1, "killed"),
                    (3.0, 1, "queued"),
                    (4.0, 1, "evicted"),
                    (5.0, 2, "killed"),
                    (6.0, 3, "failed"),
                )
            ]
            connection.execute(insert(table("event", *names)), events)
        migration.upgrade(engine)
        with Session(engine) as session:
            found = session.scalars(select(Job.discarded_at).order_by(Job.number)).all()
        self.assertEqual([3.0, 5.0, None], found)

    def test_jobs_that_have_ended_are_counted(self):
        engine = self.engine()
        with engine.begin() as connection:
            self.upgrade_to(connection, "0026")
            columns = [column(name, Job.__table__.columns[name].type) for name in _REQUIRED]
            states = ("finished", "finished", "failed", "queued")
            jobs = [
                {**_REQUIRED, "uuid": str(number), "state": state, "reason": "", "eligible_at": 1.0}
                for number, state in enumerate(states)
            ]
            names = (column("reason", Text), column("eligible_at"))
            connection.execute(insert(table("job", *columns, *names)), jobs)
        migration.upgrade(engine)
        with Session(engine) as session:
            found = job_counts.by_pool_and_state(session)
        expected = {"finished": (2, 4), "failed": (1, 2), "queued": (1, 2)}
        self.assertEqual({("default", state): n for state, n in expected.items()}, found)

    #: Of each of two days.
    SUMS: ClassVar = {"foreground": 5.5, "background": 2.0, "lost": 1.0, "started": 2, "ended": 1}

    def with_sums(self):
        """The database of the release before sums of purged jobs had a class."""
        engine = self.engine()
        names = ("day", "project_id", "user_id", "pool", *self.SUMS)
        with engine.begin() as connection:
            self.upgrade_to(connection, "0024")
            rows = [
                dict(zip(names, (day, "p", "u", "default", *self.SUMS.values()), strict=True))
                for day in (20000, 20001)
            ]
            connection.execute(insert(table("usage_day", *map(column, names))), rows)
        return engine

    def check_sums_without_class(self, engine):
        migration.upgrade(engine)
        period = usage.Span(20000 * usage.DAY, 20002 * usage.DAY)
        question = usage.Question(period=period, by=(By.DAY, By.QOS))
        with Session(engine) as session:
            found = usage.usage(session, question, 9)
            compared = compare_metadata(
                MigrationContext.configure(session.connection()), Base.metadata
            )
        self.assertEqual([], compared)
        self.assertEqual([(0, ""), (1, "")], [(key.span, key.qos) for key in found])
        self.assertEqual([self.SUMS] * 2, [vars(row) for row in found.values()])

    def test_sums_of_purged_jobs_are_kept_without_a_class(self):
        self.check_sums_without_class(self.with_sums())

    def test_sums_that_were_copied_in_part_are_copied_anew(self):
        """MariaDB makes the new table by itself, before the copy."""
        engine = self.with_sums()
        with engine.begin() as connection:
            connection.execute(text("CREATE TABLE usage_day_new (day INTEGER)"))
        self.check_sums_without_class(engine)

    def test_sums_that_were_copied_without_being_renamed(self):
        engine = self.with_sums()
        with engine.begin() as connection:
            self.upgrade_to(connection, "0025")
            connection.execute(text("ALTER TABLE usage_day RENAME TO usage_day_new"))
            connection.execute(text("UPDATE alembic_version SET version_num = '0024'"))
        self.check_sums_without_class(engine)

    #: Texts of jobs in schema 0011, and the reasons that they become.
    TEXTS = (
        ("", None),
        ("held until it is released", waits.HELD()),
        (
            "waits for quota: its project has not enough cores, ram left",
            waits.QUOTA(resources="cores, ram"),
        ),
        ("did not start: {no disk}", LEGACY(before="did not start: {no disk}")),
        (
            "preempted by job 2, state saved",
            LEGACY(2, before="preempted by ", after=", state saved"),
        ),
        ("waits behind job 2", LEGACY(2, before="waits behind ")),
        ("job 1, then job 2", LEGACY(1, before="", after=", then another job")),
    )

    def with_old_reasons(self):
        """The database as the release before reasons had codes left it."""
        engine = self.engine()
        with engine.begin() as connection:
            self.upgrade_to(connection, "0011")
            columns = [column(name, Job.__table__.columns[name].type) for name in _REQUIRED]
            jobs = [
                {**_REQUIRED, "uuid": str(number), "reason": words}
                for number, (words, _reason) in enumerate(self.TEXTS)
            ]
            connection.execute(insert(table("job", *columns, column("reason", Text))), jobs)
            names = [column(name) for name in ("at", "job", "kind", "detail")]
            events = [
                {"at": 1.0, "job": 1, "kind": kind, "detail": detail}
                for kind, detail in (
                    ("submitted", ""),
                    ("started", "in fg, immediate"),
                    ("evicted", "by job 2, state saved"),
                )
            ]
            connection.execute(insert(table("event", *names)), events)
        return engine

    def check_old_reasons(self, engine):
        migration.upgrade(engine)
        store = Store(self.url)
        self.addCleanup(store.close)
        jobs = store.jobs()
        self.assertEqual([reason for _words, reason in self.TEXTS], [job.reason for job in jobs])
        self.assertEqual([words for words, _reason in self.TEXTS[:6]], _texts(jobs[:6]))
        events = store.events(1)
        self.assertEqual(["", "in fg, immediate", ""], [event.detail for event in events])
        self.assertEqual(["", "", "by job 2, state saved"], _texts(events))
        self.assertEqual(2, events[2].reason.by)

    def test_texts_become_reasons(self):
        self.check_old_reasons(self.with_old_reasons())

    def test_a_conversion_of_texts_that_was_broken_off_is_begun_anew(self):
        """Some rows have their reasons, and the columns are there."""
        engine = self.with_old_reasons()
        with engine.begin() as connection:
            schema = Operations(MigrationContext.configure(connection))
            schema.add_column("job", Column("reason_code", String(32)))
            schema.add_column("job", Column("reason_data", JSON))
            done = table("job", *map(column, ("number", "reason", "reason_code", "reason_data")))
            values = {"reason": "", "reason_code": "held", "reason_data": '{"code": "held"}'}
            connection.execute(done.update().where(done.c.number == 2).values(values))
        self.check_old_reasons(engine)

    def test_a_table_that_was_left_without_its_index_gets_it(self):
        """MariaDB makes the index by itself, after the table."""
        engine = self.first_schema(versioned=True)
        with engine.begin() as connection:
            self.upgrade_to(connection, "0007")
            schema = Operations(MigrationContext.configure(connection))
            schema.drop_index("ix_submission_project_id", "submission")
            connection.execute(text("UPDATE alembic_version SET version_num = '0006'"))
        migration.upgrade(engine)
        with engine.connect() as connection:
            found = compare_metadata(MigrationContext.configure(connection), Base.metadata)
        self.assertEqual([], found)

    def test_slots_that_are_held_are_numbered(self):
        """Those of the past are not; a killed upgrade numbers them in the same way again."""
        engine = self.first_schema(versioned=True)
        names = "job", "process", "server", "host", "tier", "since", "until"
        stays = (
            ("a", "fg", 2.0, None),
            ("a", "fg", 1.0, None),
            ("a", "fg", 0.0, 1.0),
            ("a", "bg", 3.0, None),
            ("b", "fg", 3.0, None),
        )
        with engine.begin() as connection:
            self.upgrade_to(connection, "0024")
            rows = [dict(zip(names, (1, 0, "s", *stay), strict=True)) for stay in stays]
            connection.execute(insert(table("place", *map(column, names))), rows)
        for _attempt in range(2):
            migration.upgrade(engine)
            with Session(engine) as session:
                found = session.scalars(select(Place.slot).order_by(Place.id)).all()
            self.assertEqual([1, 0, None, 0, 0], found)
            with engine.begin() as connection:
                connection.execute(text("UPDATE alembic_version SET version_num = '0024'"))

    def test_tables_without_a_version_are_the_first(self):
        engine = self.first_schema(versioned=False)
        self.assertEqual(migration.FIRST, migration.version(engine))
        self.upgraded(engine)

    def test_a_newer_schema_is_left_alone(self):
        engine = self.engine()
        migration.upgrade(engine)
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        for refused in (lambda: Store(self.url), lambda: migration.upgrade(engine)):
            told = str(self.assertRaises(StoreError, refused))
            self.assertIn("schema is 9999", told)
            self.assertIn("install the newer version", told)
        self.assertEqual("9999", migration.version(engine))
