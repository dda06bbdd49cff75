"""Nova locks a server whatever it is doing with it."""

import threading

import fixtures
from nova.virt import fake

from tests.functional.base import TIMEOUT
from tests.functional.queue_case import QueueTestCase


class TestLocks(QueueTestCase):
    def test_while_it_is_built(self):
        go_on = threading.Event()
        self.addCleanup(go_on.set)
        spawn = fake.FakeDriver.spawn

        def slow(*args, **kwargs):
            go_on.wait(TIMEOUT)
            return spawn(*args, **kwargs)

        self.useFixture(fixtures.MonkeyPatch("nova.virt.fake.FakeDriver.spawn", slow))
        self.store.submit(1, [0.5])

        def on_its_host():
            self.engine.poll()
            return [server for server in self.cloud.servers() if server.task == "spawning"]

        [server] = self.poll(on_its_host, "the server is being built")
        self.assertEqual(("BUILD", False), (server.status, server.locked))
        self.assertIsNotNone(server.host)
        self.cloud.lock(server, "test")
        locked = self.cloud.server(server.id)
        self.assertEqual(("BUILD", "spawning", True), (locked.status, locked.task, locked.locked))
        go_on.set()
        self.settle({"id": server.id})
        self.assertTrue(self.cloud.server(server.id).locked)
