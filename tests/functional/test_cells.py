"""Two cells: what Nova does not list because a cell is down is not taken for gone."""

import contextlib
import threading

import fixtures
from nova import context, objects
from nova.conductor.manager import ComputeTaskManager
from nova.tests.fixtures import DownCellFixture

from nova_twotier.cloud import server_cache
from nova_twotier.cloud.errors import CloudError
from nova_twotier.db.states import JobState
from tests.functional.queue_case import QueueTestCase


class TestTwoCells(QueueTestCase):
    """A job of two processes on two hosts, each in a cell of its own; one server on a page."""

    NUMBER_OF_CELLS = 2
    SLOTS = 1

    def configure(self):
        super().configure()
        self.flags(max_limit=1, group="api")

    def _start_compute(self, host, cell_name=None):
        cell = f"cell{1 + int(host.removeprefix('host')) % 2}"
        return super()._start_compute(host, cell_name=cell_name or cell)

    def setUp(self):
        super().setUp()
        self.store.submit(2, [0.5], retries=0)
        self.until(1, JobState.RUNNING)
        self.engine.poll()  # It knows the servers by its own records from now on.
        self.first, self.second = self.cloud._reader.servers()

    @contextlib.contextmanager
    def second_cell_down(self):
        mapping = objects.InstanceMapping.get_by_instance_uuid(
            context.get_admin_context(), self.second["id"]
        )
        with DownCellFixture([mapping.cell_mapping]):
            yield

    def down_from_the_second_page_on(self, url, microversion):
        """Nova's answer; it lists servers of a cell that is down on the first page alone."""
        later = "marker=" in url or "/servers/detail" not in url
        with self.second_cell_down() if later else contextlib.nullcontext():
            return self.request(url, microversion)

    def test_a_cell_goes_down_between_two_pages(self):
        reader = self.cloud._reader
        self.request, reader._request = reader._request, self.down_from_the_second_page_on
        self.assertEqual([self.first["id"]], [server["id"] for server in reader.servers()])
        self.cloud._servers._cache._due_at = 0.0
        self.assertRaises(CloudError, self.cloud.servers)
        # A manager that has seen none of them knows them from its records.
        self.cloud._servers._cache._servers.clear()
        self.assertRaises(CloudError, self.cloud.servers)

        reader._request = self.request
        self.until(1, JobState.RUNNING)
        self.assertEqual(["submitted", "started"], [e.kind for e in self.store.events(1)])


class TestForgottenServers(QueueTestCase):
    """Servers in a cell whose database is not nova-api's: Nova cannot delete them there once it
    has forgotten them."""

    NUMBER_OF_CELLS = 2

    def _start_compute(self, host, cell_name=None):
        return super()._start_compute(host, cell_name=cell_name or "cell2")

    def setUp(self):
        super().setUp()
        self.died = threading.Event()
        conductor = f"{ComputeTaskManager.__module__}.ComputeTaskManager"
        self.useFixture(fixtures.MonkeyPatch(f"{conductor}._map_instance_to_cell", self.die))
        self.useFixture(fixtures.MonkeyPatch(f"{server_cache.__name__}.FORGETTING", 1.0))

    def die(self, *_arguments):
        self.died.set()
        raise RuntimeError("nova-conductor died")

    def made(self):
        self.engine.poll()
        return self.died.is_set()

    def test_their_job_is_cancelled(self):
        self.store.submit(2, [0.5])
        self.poll(self.made, "Nova makes the servers")
        self.store.request_action(1, "cancel")
        self.until(1, JobState.CANCELLED)
        self.assertEqual(2, len(self.servers(1)))
        self.assertEqual([], list(self.cloud.servers()))
