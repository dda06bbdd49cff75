"""What is heard of Nova's notifications, on whatever bus: run by a test case for each of them."""

import time
import types

import oslo_messaging
from oslo_config import cfg
from oslo_messaging import conffixture

from nova_twotier.cloud.notifications import Listener
from nova_twotier.conf import notifications as options

#: Seconds within which something is heard that is said again and again.
PATIENCE = 60


class Heard:
    """Counts what a listener was told."""

    def __init__(self):
        self.servers = self.hosts = 0

    def of_servers(self):
        self.servers += 1

    def of_hosts(self):
        self.hosts += 1


class NotificationBehaviour:
    """Tests of the bus at `self.url`; all names there may be others."""

    exchange = "nova"
    topic = "versioned_notifications"
    pools = ("default", "gpu")

    def conf(self, **values):
        conf = cfg.ConfigOpts()
        conf([], project="nova-twotier")
        options.register_opts(conf)
        ours = {"transport_url": self.url, "exchange": self.exchange, "topics": [self.topic]}
        values = {**ours, **values}
        for name, value in values.items():
            conf.set_override(name, value, group="notifications")
            # oslo.config keeps it with the group, for all that come after.
            self.addCleanup(conf.clear_override, name, group="notifications")
        return conf

    def listen(self, pool=None):
        """What a manager hears that leads a pool, as soon as it hears something."""
        listener, heard = Listener(self.conf(), pool or self.pools[0]), Heard()
        listener.start(heard.of_servers, heard.of_hosts)
        self.addCleanup(self.end, listener)
        self.until(lambda: heard.servers, again=lambda: self.notify("instance.create.end"))
        # After all that was said again and again.
        self.notify("service.update")
        self.until(lambda: heard.hosts)
        return listener, heard

    def end(self, listener):
        listener.stop()
        self.until(lambda: not listener.listening)

    def until(self, seen, again=lambda: None):
        end = time.monotonic() + PATIENCE
        while not seen():
            self.assertLess(time.monotonic(), end)
            again()
            time.sleep(0.1)

    def notify(self, event, priority="info"):
        """What Nova does when something has happened."""
        if not hasattr(self, "_notifier"):
            conf = self.conf()
            self.useFixture(conffixture.ConfFixture(conf))
            conf.set_override("control_exchange", self.exchange)
            transport = oslo_messaging.get_notification_transport(conf, url=self.url)
            self.addCleanup(transport.cleanup)
            self._notifier = oslo_messaging.Notifier(
                transport, "nova-compute:host", driver="messagingv2", topics=[self.topic]
            )
        getattr(self._notifier, priority)({}, event, {"nova_object.data": {}})

    def test_what_wakes_and_what_does_not(self):
        _listener, heard = self.listen()
        heard.servers = heard.hosts = 0
        for event in ("instance.create.start", "instance.update", "keypair.create.end", "metrics"):
            self.notify(event)
        self.notify("instance.power_off.end")
        self.notify("instance.create.error", "error")
        self.until(lambda: heard.servers >= 2)
        for event in ("service.update", "aggregate.add_host.end", "aggregate.create.start"):
            self.notify(event)
        self.until(lambda: heard.hosts >= 2)
        self.assertEqual((2, 2), (heard.servers, heard.hosts))

    def test_each_pool_hears_all(self):
        """And so does another consumer, which reads what is in no listener's own queue."""
        transport = oslo_messaging.get_notification_transport(self.conf(), url=self.url)
        self.addCleanup(transport.cleanup)
        others = []
        endpoint = types.SimpleNamespace(info=lambda *args: others.append(args[2]))
        other = oslo_messaging.get_notification_listener(
            transport,
            [oslo_messaging.Target(topic=self.topic, exchange=self.exchange)],
            [endpoint],
            executor="threading",
        )
        other.start()
        self.addCleanup(other.wait)
        self.addCleanup(other.stop)
        _one, first = self.listen(self.pools[0])
        _two, second = self.listen(self.pools[1])
        before = first.servers, second.servers
        self.notify("instance.delete.end")
        self.until(lambda: first.servers > before[0] and second.servers > before[1])
        self.until(lambda: "instance.delete.end" in others)

    def test_no_more_after_it_has_stopped(self):
        listener, heard = self.listen()
        self.end(listener)
        heard.servers = 0
        self.notify("instance.delete.end")
        time.sleep(1)
        self.assertEqual(0, heard.servers)
