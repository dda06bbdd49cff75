"""What an audit takes from the manager's database."""

import pathlib
import types

import fixtures
import testtools

from nova_twotier.audit.records import existing_store, job_records, missing_managers
from nova_twotier.conf import ConfigError
from nova_twotier.core.actions import Tier
from nova_twotier.db import terms
from nova_twotier.db.plans import SwapPlan, TierChange
from nova_twotier.db.states import ActionKind, ActionState, JobState
from tests.new_databases import new_store
from tests.unit.manager import builders


class TestRecords(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = self.useFixture(fixtures.TempDir()).path
        self.store = new_store(self, f"sqlite:///{directory}/queue.sqlite")

    def job(self, state, tier=None, **values):
        made = builders.job(state=state, tier=tier, **values)
        with self.store.transaction() as session:
            session.add(made)
        return made

    def action(self, kind, of=None, plan=None, state=ActionState.EXPECTED):
        made = builders.action(kind, of, plan)
        made.id, made.state = None, state
        with self.store.transaction() as session:
            session.add(made)

    def under_way(self):
        return {uuid for uuid, record in job_records(self.store, 10).items() if record.under_way}

    def test_of_open_jobs(self):
        runs = self.job(JobState.RUNNING, Tier.BG, cpu=0.7)
        waits = self.job(JobState.QUEUED, saved=True)
        self.job(JobState.FINISHED)
        records = job_records(self.store, 10)
        self.assertEqual({runs.uuid, waits.uuid}, records.keys())
        self.assertEqual((Tier.BG, (0.7, 0.7)), (records[runs.uuid].tier, records[runs.uuid].cpu))
        self.assertIsNone(records[waits.uuid].tier)
        self.assertEqual(set(), self.under_way())

    def test_under_way(self):
        started, swapped, moved, quiet = (self.job(JobState.RUNNING, Tier.FG) for _ in range(4))
        ending = self.job(JobState.ENDING, Tier.FG)
        self.action(ActionKind.EVICT, started)
        changes = (TierChange(one.number, one.uuid, 1, Tier.BG, ()) for one in (swapped, moved))
        self.action(ActionKind.SWAP, plan=SwapPlan(tuple(changes)))
        self.action(ActionKind.EVICT, quiet, state=ActionState.DONE)
        busy = {job.uuid for job in (started, swapped, moved, ending)}
        self.assertEqual(busy, self.under_way())

    def test_without_a_manager(self):
        runs = self.job(JobState.RUNNING, Tier.FG, pool="gpu")
        self.assertFalse(job_records(self.store, 3600)[runs.uuid].managed)
        terms.begin(self.store, "gpu", "manager")
        self.assertTrue(job_records(self.store, 3600)[runs.uuid].managed)
        self.assertEqual(
            ["pool default: no manager yet"],
            missing_managers(self.store, ["default", "gpu"], 3600),
        )


class TestExisting(testtools.TestCase):
    def opened(self, url):
        database = types.SimpleNamespace(connection=url)
        return existing_store(types.SimpleNamespace(database=database))

    def test_none_is_made(self):
        """An empty one would make every entry of the ledger an orphan."""
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "queue.sqlite")
        error = self.assertRaises(ConfigError, self.opened, f"sqlite:///{path}")
        self.assertIn(f"no manager's database {path}", str(error))
        self.assertFalse(path.exists())

    def test_wrong_url(self):
        self.assertRaises(ConfigError, self.opened, "nonsense")
