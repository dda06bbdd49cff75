"""Nova's notifications wake the manager."""

import sys
from unittest import mock

import testtools

from nova_twotier.cloud.notifications import Listener
from nova_twotier.conf import ConfigError
from tests.unit.cloud.notification_behaviour import Heard, NotificationBehaviour


class TestInMemory(NotificationBehaviour, testtools.TestCase):
    url = "fake://"


class TestConfiguration(NotificationBehaviour, testtools.TestCase):
    url = None

    test_what_wakes_and_what_does_not = None
    test_each_pool_hears_all = None
    test_no_more_after_it_has_stopped = None

    def forget_library(self):
        patcher = mock.patch.dict(sys.modules, {"oslo_messaging": None})
        patcher.start()
        self.addCleanup(patcher.stop)

    def test_nothing_without_a_bus(self):
        """Nor is its library needed."""
        self.forget_library()
        listener, heard = Listener(self.conf(), "default"), Heard()
        listener.start(heard.of_servers, heard.of_hosts)
        listener.stop()

    def test_library_is_missing(self):
        self.forget_library()
        conf = self.conf(transport_url="rabbit://me:secret@127.0.0.1/")
        error = str(self.assertRaises(ConfigError, Listener, conf, "default"))
        self.assertIn("install nova-twotier[notifications]", error)
        self.assertNotIn("secret", error)
