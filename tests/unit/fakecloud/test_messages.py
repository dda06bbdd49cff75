"""Messages between Nova's services in one process: each wakes whom it is for, and arrives once."""

import threading

import oslo_messaging
import testtools
from oslo_config import cfg
from oslo_messaging import Target, conffixture
from oslo_messaging._drivers import impl_fake

from nova_twotier.tools.fakecloud.messages import Exchange, Listener

PATIENCE = 60


class Exchanges(impl_fake.FakeExchangeManager):
    """Those of one test."""

    def __init__(self):
        super().__init__("nova")
        self._exchange = Exchange("nova")

    def get_exchange(self, _name):
        return self._exchange


class TestListener(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.exchanges = Exchanges()
        self.exchange = self.exchanges.get_exchange(None)

    def listener(self, server, topic="compute"):
        """As an RPC server has one: for its host, and for any host."""
        return Listener(self.exchanges, [Target(topic=topic, server=server), Target(topic=topic)])

    def send(self, message, server=None, **options):
        self.exchange.deliver_message("compute", {}, message, server=server, **options)

    def test_what_came_before(self):
        listener = self.listener("host1")
        for number in range(2):
            self.send(number, "host1")
        self.assertEqual([0, 1], [listener.poll()[0].message for _time in range(2)])
        self.assertEqual([], listener.poll(timeout=0))

    def test_a_message_wakes_the_one_that_it_is_for(self):
        listeners = [self.listener(host) for host in ("host1", "host2")]
        heard = [[], []]

        def hear(number):
            heard[number] += listeners[number].poll()

        threads = [threading.Thread(target=hear, args=[number]) for number in range(2)]
        for thread in threads:
            thread.start()
        self.send("hello", "host2")
        threads[1].join(PATIENCE)
        self.assertEqual(["hello"], [each.message for each in heard[1]])
        self.assertTrue(threads[0].is_alive())
        listeners[0].stop()
        threads[0].join(PATIENCE)
        self.assertEqual([], heard[0])

    def test_for_any_host(self):
        """One of those that are woken gets it."""
        listeners = [self.listener(host) for host in ("host1", "host2")]
        self.send("whoever")
        found = [each.message for listener in listeners for each in listener.poll(timeout=0)]
        self.assertEqual(["whoever"], found)

    def test_for_all_hosts(self):
        listeners = [self.listener(host) for host in ("host1", "host2")]
        self.send("all", fanout=True)
        for listener in listeners:
            self.assertEqual(["all"], [each.message for each in listener.poll()])


class TestRpc(testtools.TestCase):
    def test_call_through_the_driver(self):
        """The fake driver works with our exchanges and listeners."""
        self.patch(impl_fake, "FakeExchange", Exchange)
        self.patch(impl_fake, "FakeListener", Listener)
        self.patch(impl_fake.FakeExchangeManager, "_exchanges", {})
        conf = self.useFixture(conffixture.ConfFixture(cfg.ConfigOpts())).conf
        conf([])
        transport = oslo_messaging.get_rpc_transport(conf, url="fake://")
        target = Target(topic="compute", server="host1")

        class Endpoint:
            def double(self, _context, number):
                return 2 * number

        server = oslo_messaging.get_rpc_server(transport, target, [Endpoint()])
        server.start()
        self.addCleanup(server.wait)
        self.addCleanup(server.stop)
        client = oslo_messaging.get_rpc_client(transport, target, timeout=PATIENCE)
        self.assertEqual([0, 2, 4], [client.call({}, "double", number=n) for n in range(3)])
