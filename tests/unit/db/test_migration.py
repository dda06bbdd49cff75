"""The schema of a SQLite file: made and upgraded by whoever opens it."""

import textwrap
from concurrent import futures

import fixtures
import testtools
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text

from nova_twotier.db import migration
from nova_twotier.db.store import Store
from tests.unit.db.schema_behaviour import SchemaBehaviour

#: What the first release made, with a job that has two events.
FIRST_RELEASE = textwrap.dedent("""\
    CREATE TABLE job (
        number INTEGER NOT NULL, uuid VARCHAR(36) NOT NULL, name VARCHAR(255) NOT NULL,
        size INTEGER NOT NULL, cpu JSON NOT NULL, estimate DOUBLE, submitted_at DOUBLE NOT NULL,
        state VARCHAR(16) NOT NULL, tier VARCHAR(2), saved BOOLEAN NOT NULL, how VARCHAR(16),
        reason VARCHAR NOT NULL, wish VARCHAR(16), started_at DOUBLE, finished_at DOUBLE,
        not_before DOUBLE NOT NULL, failures INTEGER NOT NULL, evictions INTEGER NOT NULL,
        restores INTEGER NOT NULL, swaps INTEGER NOT NULL, migrations INTEGER NOT NULL,
        PRIMARY KEY (number), UNIQUE (uuid));
    CREATE INDEX ix_job_state ON job (state);
    CREATE TABLE action (
        id INTEGER NOT NULL, kind VARCHAR(16) NOT NULL, phase INTEGER NOT NULL, job INTEGER,
        "plan" JSON NOT NULL, begun JSON NOT NULL, begun_at DOUBLE, state VARCHAR(16) NOT NULL,
        reason VARCHAR NOT NULL, created_at DOUBLE NOT NULL, closed_at DOUBLE,
        PRIMARY KEY (id), FOREIGN KEY(job) REFERENCES job (number));
    CREATE INDEX ix_action_job ON action (job);
    CREATE INDEX ix_action_state ON action (state);
    CREATE TABLE event (
        id INTEGER NOT NULL, at DOUBLE NOT NULL, job INTEGER, kind VARCHAR(32) NOT NULL,
        detail VARCHAR NOT NULL, PRIMARY KEY (id), FOREIGN KEY(job) REFERENCES job (number));
    CREATE INDEX ix_event_job ON event (job);
    INSERT INTO job VALUES (
        3, 'u-u-i-d', 'solver', 2, '[0.5, 0.5]', 60.0, 1790000000.5, 'running', 'fg', 0,
        'immediate', '', NULL, 1790000001.5, NULL, 0.0, 0, 0, 0, 0, 0);
    INSERT INTO event VALUES (1, 1790000000.5, 3, 'submitted', '');
    INSERT INTO event VALUES (2, 1790000001.5, 3, 'started', 'in fg, immediate');
    """)


class SqliteCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.url = f"sqlite:///{self.useFixture(fixtures.TempDir()).path}/queue.sqlite"

    def opened(self):
        store = Store(self.url)
        self.addCleanup(store.close)
        return store


class TestSchemaOnSqlite(SchemaBehaviour, SqliteCase):
    def test_opening_upgrades(self):
        self.first_schema(versioned=True)
        self.assertEqual([1], [job.number for job in self.opened().jobs()])

    def test_opening_a_database_of_the_first_release(self):
        with self.engine().begin() as connection:
            for statement in FIRST_RELEASE.split(";\n")[:-1]:
                connection.execute(text(statement))
        store = self.opened()
        self.assertEqual([3], [each.number for each in store.jobs()])
        job = store.job(3)
        self.assertEqual(
            (3, "u-u-i-d", [0.5, 0.5], "running", "fg", 1790000001.5, "", False),
            (
                job.number,
                job.uuid,
                job.cpu,
                job.state,
                job.tier,
                job.started_at,
                job.project_id,
                job.held,
            ),
        )
        self.assertEqual(["submitted", "started"], [event.kind for event in store.events(3)])
        self.assertEqual(4, store.submit(1, [1.0]).number)

    def test_many_open_a_new_one_at_once(self):
        with futures.ThreadPoolExecutor(6) as pool:
            stores = list(pool.map(lambda _: self.opened(), range(6)))
        for store in stores:
            store.submit(1, [1.0])
        self.assertEqual([1, 2, 3, 4, 5, 6], [job.number for job in stores[0].jobs()])


class TestVersions(testtools.TestCase):
    def test_the_newest_is_that_of_the_scripts(self):
        config = Config()
        config.set_main_option("script_location", migration.SCRIPTS)
        scripts = ScriptDirectory.from_config(config)
        self.assertEqual([migration.NEWEST], scripts.get_heads())
        self.assertEqual([migration.FIRST], scripts.get_bases())
