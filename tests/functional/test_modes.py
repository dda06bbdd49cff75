"""The ways of preemption on real Nova, through the manager: suspended, begun anew, kept at the end.

One host a slot. Job 1 has one of them; job 2 needs both; job 3 passes it, and has to make room when
job 1 ends.
"""

import pathlib
from concurrent import futures

import fixtures
from sqlalchemy import select

from nova_twotier import conf as config
from nova_twotier.core import policies
from nova_twotier.ledger import names
from nova_twotier.manager import schedule
from nova_twotier.manager.cloud import Cloud
from nova_twotier.manager.db.models import Action, JobState
from nova_twotier.manager.db.store import Store
from nova_twotier.manager.engine import Engine
from tests.functional.base import TwoTierTestCase
from tests.functional.operator_case import OperatorMixin

OPTIONS = """
[manager]
flavor = {flavor}
image = {image}
host_interval = 0.05
boot_grace = 60
"""


class AtOnce(futures.Executor):
    """Nova runs in the same thread."""

    def submit(self, function, *arguments):
        future = futures.Future()
        future.set_result(function(*arguments))
        return future


class ModesTestCase(OperatorMixin, TwoTierTestCase):
    HOSTS = 2
    SLOTS = 1

    def setUp(self):
        super().setUp()
        self.aggregate_of(self.hosts, slots=self.SLOTS, tiers=self.TIERS)
        self.access_of("nova_twotier.manager.cloud")
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        path = directory / "nova-twotier.conf"
        path.write_text(OPTIONS.format(flavor=self.flavor, image=self.image))
        conf = config.load(["--config-file", str(path)], "test")
        self.store = Store(f"sqlite:///{directory}/queue.sqlite")
        self.addCleanup(self.store.close)
        policy = policies.get("amcbf")
        self.cloud = Cloud(conf)
        self.engine = Engine(
            conf.manager, self.store, self.cloud, self.ledger, policy, workers=AtOnce()
        )
        self.addCleanup(self.engine.close)

    def enable_plugin(self):
        super().enable_plugin()
        self.flags(
            weight_classes=[
                "nova_twotier.weighers.all_weighers",
                "nova.scheduler.weights.affinity.ServerGroupSoftAffinityWeigher",
            ],
            group="filter_scheduler",
        )

    def until(self, number, state, **values):
        """Look until a job has this state, and return it."""

        def look():
            self.engine.look()
            job = self.store.job(number)
            self.assertNotEqual(JobState.FAILED, job.state, self.reasons())
            found = all(getattr(job, name) == value for name, value in values.items())
            return job if job.state == state and found else None

        return self.poll(look, f"job {number} is {state} {values}")

    def servers(self, number):
        uuid = self.store.job(number).uuid
        found = self.api.get_servers(search_opts={"all_tenants": True})
        return [server for server in found if server["metadata"].get("twotier_job") == uuid]

    def preempted(self, **values):
        """Job 3 was preempted; returns its server as it was when it ran."""
        self.store.submit(1, [1.0])
        self.until(1, JobState.RUNNING)
        self.store.submit(2, [1.0])
        self.store.submit(1, [1.0], **values)
        self.until(3, JobState.RUNNING)
        [server] = self.servers(3)
        self.store.wish(1, "complete")
        self.until(2, JobState.RUNNING)
        return server

    def resources(self, server):
        """What a server holds, whoever provides it."""
        held = self.ledger.get(f"/allocations/{server['id']}")["allocations"]
        return {name for entry in held.values() for name in entry["resources"]}

    def reasons(self):
        """For whoever looks for the cause of a failure."""
        with self.store.reading() as session:
            return [action.reason for action in session.scalars(select(Action))]

    def kinds(self, number):
        return [event.kind for event in self.store.events(number)]


class TestSuspend(ModesTestCase):
    def test_in_place_without_a_slot_and_back(self):
        server = self.preempted(preemption="suspend")
        job = self.store.job(3)
        self.assertEqual((JobState.QUEUED, True), (job.state, job.saved))
        self.assertEqual("SUSPENDED", self.api.get_server(server["id"])["status"])
        self._run_periodics()
        held = self.resources(server)
        self.assertEqual(set(), {name for name in held if name.startswith("CUSTOM_TWOTIER")})
        self.assertIn("VCPU", held)
        self.assertEqual((2, 0), self.totals())
        self.store.wish(2, "complete")
        self.until(3, JobState.RUNNING, restores=1)
        self.assertEqual([server["id"]], [each["id"] for each in self.servers(3)])
        self.assertEqual(self.host_of(server), self.claim_of(server)[0])
        self.assertIn(names.SLOT, self.resources(server))
        self.assertEqual(["submitted", "started", "evicted", "restored"], self.kinds(3))
        self.store.wish(3, "complete")
        self.until(3, JobState.FINISHED)
        self.assertEqual(set(), self.resources(server))
        self.assertEqual((0, 0), self.totals())
        with self.store.reading() as session:
            mine = [place for place in schedule.places(session) if place.job == 3]
        self.assertEqual(2, len(mine))
        self.assertTrue(all(place.until for place in mine))


class TestRequeue(ModesTestCase):
    def test_begins_anew(self):
        server = self.preempted(preemption="requeue")
        job = self.store.job(3)
        self.assertEqual((JobState.QUEUED, False), (job.state, job.saved))
        self.assertEqual([], self.servers(3))
        self.store.wish(2, "complete")
        self.until(3, JobState.RUNNING)
        [anew] = self.servers(3)
        self.assertNotEqual(server["id"], anew["id"])
        self.assertEqual(["submitted", "started", "killed", "started"], self.kinds(3))


class TestKept(ModesTestCase):
    def test_servers_stay_without_slots(self):
        self.store.submit(2, [1.0], keep_servers=True)
        self.until(1, JobState.RUNNING)
        self.store.wish(1, "complete")
        self.until(1, JobState.FINISHED)
        self.assertEqual(
            ["SHELVED_OFFLOADED"] * 2, [server["status"] for server in self.servers(1)]
        )
        self.assertEqual((0, 0), self.totals())


class TestFlavor(ModesTestCase):
    def test_one_that_is_none_for_jobs(self):
        plain = self._create_flavor(memory_mb=64, vcpu=1, disk=1, ephemeral=0)
        self.store.submit(1, [1.0], flavor=plain)
        job = self.poll(self.failed, "job 1 has failed")
        self.assertEqual(
            f"did not start: flavor {plain} does not have resources:CUSTOM_TWOTIER_SLOT=1; "
            "choose one that has",
            job.reason,
        )
        self.assertEqual([], self.servers(1))

    def failed(self):
        self.engine.look()
        job = self.store.job(1)
        return job if job.state == JobState.FAILED else None
