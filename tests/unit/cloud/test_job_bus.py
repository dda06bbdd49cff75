"""Events of jobs on the message bus."""

import queue
import sys
import types
from unittest import mock

import oslo_messaging
import testtools
from oslo_config import cfg
from oslo_messaging import conffixture

from nova_twotier.cloud.job_bus import JobBus
from nova_twotier.conf import ConfigError, job_events

URL = "fake://"


class JobBusCase(testtools.TestCase):
    def conf(self, **values):
        conf = cfg.ConfigOpts()
        conf([], project="nova-twotier")
        job_events.register_opts(conf)
        for name, value in values.items():
            conf.set_override(name, value, group="job_events")
            # oslo.config keeps it with the group, for all that come after.
            self.addCleanup(conf.clear_override, name, group="job_events")
        return conf


class TestPublishing(JobBusCase):
    def test_a_consumer_gets_it(self):
        conf = self.conf(transport_url=URL, topics=["of_jobs"])
        self.useFixture(conffixture.ConfFixture(conf))
        heard = queue.Queue()
        transport = oslo_messaging.get_notification_transport(conf, url=URL)
        self.addCleanup(transport.cleanup)
        endpoint = types.SimpleNamespace(info=lambda *args: heard.put(args[1:4]))
        consumer = oslo_messaging.get_notification_listener(
            transport, [oslo_messaging.Target(topic="of_jobs")], [endpoint], executor="threading"
        )
        consumer.start()
        self.addCleanup(consumer.wait)
        self.addCleanup(consumer.stop)
        bus = JobBus(conf)
        self.assertTrue(bus.configured)
        bus.publish({"type": "job.not_started", "data": {"a": 1}})
        publisher, event, content = heard.get(timeout=60)
        self.assertRegex(publisher, r"^twotier-manager\.")
        self.assertEqual("twotier.job.not_started", event)
        self.assertEqual({"type": "job.not_started", "data": {"a": 1}}, content)


class TestConfiguration(JobBusCase):
    def setUp(self):
        super().setUp()
        patcher = mock.patch.dict(sys.modules, {"oslo_messaging": None})
        patcher.start()
        self.addCleanup(patcher.stop)

    def test_the_library_is_not_needed_without_a_bus(self):
        self.assertFalse(JobBus(self.conf()).configured)

    def test_the_library_is_missing(self):
        conf = self.conf(transport_url="rabbit://me:secret@127.0.0.1/")
        error = str(self.assertRaises(ConfigError, JobBus, conf))
        self.assertIn("install nova-twotier[notifications]", error)
        self.assertNotIn("secret", error)
