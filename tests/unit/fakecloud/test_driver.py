"""What the driver of fake hosts does besides Nova's own."""

from types import SimpleNamespace

import testtools
from nova.virt import fake

from nova_twotier.tools.fakecloud.driver import SlotDriver


class TestSlotDriver(testtools.TestCase):
    def test_a_guest_that_has_migrated_away_is_forgotten(self):
        driver = SlotDriver(None)
        server = SimpleNamespace(uuid="a-server")
        driver.instances[server.uuid] = fake.FakeInstance("name", None, server.uuid)
        moved = []
        driver.live_migration(None, server, "host2", lambda *each: moved.append(each[2]), None)
        self.assertEqual(["host2"], moved)
        self.assertNotIn(server.uuid, driver.instances)
