"""The schema of a SQLite file: made and upgraded by whoever opens it."""

import json
import pathlib
import sqlite3
import textwrap
import threading
from concurrent import futures

import fixtures
import testtools
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import column, create_engine, insert, table, text

from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import LEGACY, changes, waits
from nova_twotier.db import migration
from nova_twotier.db.plans import (
    EndPlan,
    EvictPlan,
    MigratePlan,
    PowerOnPlan,
    StartPlan,
    SwapPlan,
    TierChange,
)
from nova_twotier.db.progress import Progress, Refusal, RequestKey
from nova_twotier.db.states import JobState, Preemption
from nova_twotier.db.store import Store, open_actions
from tests.unit.db.schema_behaviour import SchemaBehaviour, SchemaSteps

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

    def test_opening_waits_for_a_process_that_makes_the_database(self):
        path = self.url.removeprefix("sqlite:///")
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.2, other.execute, ["COMMIT"])
        release.start()
        self.addCleanup(release.join)
        self.assertEqual([], self.opened().jobs())


class TestOpenActions(SqliteCase):
    """What the first release had begun goes on under the names of today."""

    def opened_with(self, kind, plan, begun):
        path = self.url.removeprefix("sqlite:///")
        pathlib.Path(path).unlink(missing_ok=True)
        values = {"kind": kind, "plan": json.dumps(plan), "begun": json.dumps(begun)}
        engine = create_engine(self.url)
        with engine.begin() as connection:
            for statement in FIRST_RELEASE.split(";\n")[:-1]:
                connection.execute(text(statement))
            connection.execute(
                text(
                    "INSERT INTO action VALUES "
                    "(1, :kind, 1, 3, :plan, :begun, 5.0, 'expected', '', 4.0, NULL)"
                ),
                values,
            )
        engine.dispose()
        store = self.opened()
        with store.reading() as session:
            [action] = open_actions(session)
            return action.plan, action.progress

    def test_start(self):
        refused = {"reason": "Nova said no", "told": "no", "unfit": False, "quota": True}
        begun = {"boot": 2, "at": 7.0, "refused": refused, "undoing": "no", "before": "waits"}
        plan, progress = self.opened_with("start", {"tier": "bg", "how": "immediate"}, begun)
        self.assertEqual(StartPlan(Tier.BG, "immediate"), plan)
        expected = Progress(
            {RequestKey("boot"): 2},
            booted_at=7.0,
            refusal=Refusal(LEGACY(before="no"), "Nova said no"),
            undoing=LEGACY(before="no"),
            waited_for=LEGACY(before="waits"),
        )
        self.assertEqual(expected, progress)

    def test_evict(self):
        begun = {"vm1": 1, "notice vm1": 1, "told": "gone", "left": 6.0}
        plan, progress = self.opened_with("evict", {"by": "job 2"}, begun)
        self.assertEqual(EvictPlan(changes.PREEMPTED(2), Preemption.SHELVE), plan)
        attempts = {RequestKey("save", "vm1"): 1, RequestKey("notice", "vm1"): 1}
        self.assertEqual(Progress(attempts, vacated_at=6.0), progress)

    def test_swap(self):
        swap = {"number": 3, "uuid": "u-u-i-d", "size": 2, "tier": "fg", "vms": ["vm1"], "by": None}
        plan, progress = self.opened_with("swap", {"swaps": [swap]}, {})
        self.assertEqual(SwapPlan((TierChange(3, "u-u-i-d", 2, Tier.FG, ("vm1",)),)), plan)
        self.assertEqual(Progress(), progress)

    def test_migrate_and_end(self):
        plan, progress = self.opened_with("migrate", {"targets": {"1": "b"}}, {"vm1": 0})
        self.assertEqual(MigratePlan({1: "b"}, {}), plan)
        self.assertEqual({RequestKey("migrate", "vm1"): 0}, progress.attempts)
        end = {"then": "finished", "reason": "", "at": 9.0}
        plan, progress = self.opened_with("end", end, {"vm1": 1, "group": 1})
        self.assertEqual(EndPlan(JobState.FINISHED, None, 9.0), plan)
        attempts = {RequestKey("delete", "vm1"): 1, RequestKey("group"): 1}
        self.assertEqual(attempts, progress.attempts)


class TestOpenActionsOf0011(SchemaSteps, SqliteCase):
    """What the release before reasons had codes had begun goes on."""

    def converted(self, kind, plan, begun=()):
        engine = self.engine()
        with engine.begin() as connection:
            self.upgrade_to(connection, "0011")
            old = {"kind": kind, "plan": json.dumps(plan), "begun": json.dumps(dict(begun))}
            columns = map(column, (*old, "pool", "phase", "state", "reason", "created_at"))
            rest = {"pool": "default", "phase": 1, "state": "expected", "reason": ""}
            connection.execute(
                insert(table("action", *columns)), {**old, **rest, "created_at": 4.0}
            )
        with self.opened().reading() as session:
            [action] = open_actions(session)
            pathlib.Path(self.url.removeprefix("sqlite:///")).unlink()
            return action.plan, action.progress

    def test_preemptions(self):
        rest = {"mode": "requeue", "repairs": False, "unmoved": False}
        for by, reason in (
            ("job 2", changes.PREEMPTED(2)),
            ("itself, for the foreground", changes.TO_FOREGROUND()),
            (
                "the manager: its servers are not all at work in bg",
                changes.SCATTERED(tier="bg"),
            ),
            (
                "the manager: its servers are not all in fg",
                LEGACY(before="preempted by the manager: its servers are not all in fg"),
            ),
        ):
            plan, _progress = self.converted("evict", {"by": by, **rest})
            self.assertEqual(EvictPlan(reason, Preemption.REQUEUE), plan)

    def test_moves(self):
        change = {"number": 3, "uuid": "u", "size": 2, "tier": "bg", "vms": [], "by": "job 12"}
        plan, _progress = self.converted("swap", {"changes": [change]})
        self.assertEqual((TierChange(3, "u", 2, Tier.BG, (), by=12),), plan.changes)
        relocate = {"targets": {"1": "b"}, "origins": {"1": "a"}, "vms": [], "by": "job 12"}
        plan, _progress = self.converted(
            "relocate", {**relocate, "how": "backfilled", "mode": "shelve"}
        )
        self.assertEqual(12, plan.by)

    def test_ends(self):
        plan, _progress = self.converted("power on", {"reason": "its host rebooted"})
        self.assertEqual(PowerOnPlan(LEGACY(before="its host rebooted")), plan)
        end = {"then": "failed", "reason": "ran its walltime of 60 s", "at": 9.0}
        plan, _progress = self.converted("end", {**end, "exit_status": None})
        self.assertEqual("ran its walltime of 60 s", str(plan.reason))

    def test_progress(self):
        refusal = {"reason": "Nova said no", "public_reason": "", "unfit": True, "quota": False}
        quota = "waits for quota: its project has not enough cores left"
        start = {"tier": "fg", "how": "immediate", "hosts": [], "links": {}}
        for public, code in ((quota, waits.QUOTA), ("no", LEGACY)):
            begun = {
                "undoing": "link a (100 Mbit/s wanted)",
                "public_reason": "the bandwidth was taken",
                "waited_for": "waits behind job 2",
                "refusal": {**refusal, "public_reason": public},
            }
            _plan, progress = self.converted("start", start, begun)
            self.assertEqual("the bandwidth was taken", str(progress.undoing))
            self.assertEqual("link a (100 Mbit/s wanted)", progress.detail)
            self.assertEqual(2, progress.waited_for.by)
            self.assertEqual(
                (code, "Nova said no", True),
                (progress.refusal.reason.code, progress.refusal.detail, progress.refusal.unfit),
            )


class TestVersions(testtools.TestCase):
    def test_the_newest_is_that_of_the_scripts(self):
        config = Config()
        config.set_main_option("script_location", migration.SCRIPTS)
        scripts = ScriptDirectory.from_config(config)
        self.assertEqual([migration.NEWEST], scripts.get_heads())
        self.assertEqual([migration.FIRST], scripts.get_bases())
