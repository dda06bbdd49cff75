"""The queue manager on real Nova and Placement, in this process."""

import pathlib

import fixtures
from nova.api import auth
from sqlalchemy import select
from testtools.content import text_content

from nova_twotier import conf as config
from nova_twotier.cloud.nova import Cloud
from nova_twotier.core import policies
from nova_twotier.db.models import Action
from nova_twotier.db.states import JobState
from nova_twotier.manager.engine import Engine
from tests.executors import OneByOne
from tests.functional.base import TwoTierTestCase
from tests.functional.operator_case import OperatorMixin
from tests.new_databases import new_store

OPTIONS = """
[manager]
flavor = {flavor}
image = {image}
host_interval = 0.05
boot_grace = 61
prediction_interval = 0
estimator = requested
"""


class QueueTestCase(OperatorMixin, TwoTierTestCase):
    """A manager of the pool `default`, whose looks are made by the test."""

    POLICY = "amcbf"

    def setUp(self):
        super().setUp()
        self.know_requests()
        self.aggregate_of(self.hosts, slots=self.SLOTS, tiers=self.TIERS)
        self.access_of("nova_twotier.cloud.nova")
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        path = directory / "nova-twotier.conf"
        path.write_text(OPTIONS.format(flavor=self.flavor, image=self.image))
        self.conf = conf = config.load(["--config-file", str(path)], "test")
        self.store = new_store(self, f"sqlite:///{directory}/queue.sqlite")
        self.addOnException(self._tell_events)
        self.options = conf.manager
        self.cloud = Cloud(conf)
        self.engine = self.new_engine()

    def _tell_events(self, _error):
        """Attach all events to the failure: it may be rare, and their reasons tell the cause."""
        lines = [
            f"{event.at:.2f} job {event.job} {event.kind}: {event.reason} {event.detail or ''}"
            for event in self.store.events()
        ]
        self.addDetail("events", text_content("\n".join(lines)))

    def know_requests(self):
        """Let Nova know the id that a request was sent with, which its fixture forgets."""
        original = auth.NovaKeystoneContext._create_context

        def create(env, **values):
            made = original(env, **values)
            made.global_request_id = env.get("openstack.global_request_id")
            return made

        name = "nova.api.auth.NovaKeystoneContext._create_context"
        self.useFixture(fixtures.MonkeyPatch(name, create))

    def new_engine(self, **pool):
        """A manager; of the default pool if none is given."""
        policy = policies.get(self.POLICY)
        engine = Engine(
            self.options, self.store, self.cloud, self.ledger, policy, workers=OneByOne(), **pool
        )
        self.addCleanup(engine.close)
        return engine

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

        def reached():
            self.engine.poll()
            job = self.store.job(number)
            self.assertNotEqual(JobState.FAILED, job.state, self.reasons())
            found = all(getattr(job, name) == value for name, value in values.items())
            return job if job.state == state and found else None

        return self.poll(reached, f"job {number} is {state} {values}")

    def servers(self, number):
        uuid = self.store.job(number).uuid
        found = self.api.get_servers(search_opts={"all_tenants": True})
        return [server for server in found if server["metadata"].get("twotier_job") == uuid]

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
