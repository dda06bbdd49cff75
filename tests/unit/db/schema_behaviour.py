"""How the schema gets up to date, on whatever database: run by a test case for each of them."""

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import column, insert, inspect, table, text

from nova_twotier.db import migration
from nova_twotier.db.connection import StoreError, connect
from nova_twotier.db.models import Base, Job
from nova_twotier.db.store import Store

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


class SchemaBehaviour:
    """Tests of the empty database at `self.url`."""

    def engine(self):
        engine = connect(self.url)
        self.addCleanup(engine.dispose)
        return engine

    def first_schema(self, versioned):
        """The database as the first version made it, with a job in it."""
        engine = self.engine()
        config = Config()
        config.set_main_option("script_location", migration.SCRIPTS)
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, migration.FIRST)
            if not versioned:
                connection.execute(text("DROP TABLE alembic_version"))
            there = [each["name"] for each in inspect(connection).get_columns("job")]
            self.assertNotIn("project_id", there)
            values = [column(name, Job.__table__.columns[name].type) for name in JOB]
            connection.execute(insert(table("job", *values)), JOB)
        return engine

    def upgraded(self, engine):
        migration.upgrade(engine)
        self.assertEqual(migration.NEWEST, migration.version(engine))
        store = Store(self.url)
        self.addCleanup(store.close)
        job = store.job(1)
        self.assertEqual([1], [each.number for each in store.jobs()])
        self.assertEqual(JOB, {name: getattr(job, name) for name in JOB})
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
