"""Nova's notifications over the RabbitMQ of this machine; without one, skipped."""

import unittest
import uuid

import kombu
import testtools

from tests.unit.cloud.notification_behaviour import NotificationBehaviour

ADDRESS = "amqp://guest:guest@127.0.0.1:5672/"


class TestRabbitmq(NotificationBehaviour, testtools.TestCase):
    url = ADDRESS.replace("amqp", "rabbit")

    def setUp(self):
        super().setUp()
        mark = uuid.uuid4().hex
        self.exchange, self.topic = f"twotier_test_{mark}", f"twotier_topic_{mark}"
        self.pools = (f"default_{mark}", f"gpu_{mark}")
        try:
            with kombu.Connection(ADDRESS, connect_timeout=2) as connection:
                connection.connect()
        except OSError as error:
            raise unittest.SkipTest(f"no RabbitMQ at {ADDRESS}: {error}") from error
        self.addCleanup(self.remove)

    def remove(self):
        """Queues outlive those who listen."""
        names = [f"twotier-{pool}" for pool in self.pools]
        names += [f"{self.topic}.{priority}" for priority in ("info", "error")]
        with kombu.Connection(ADDRESS) as connection, connection.channel() as channel:
            for name in names:
                channel.queue_delete(name)
            channel.exchange_delete(self.exchange)

    def test_what_comes_while_nobody_leads_is_heard_by_the_next(self):
        listener, _heard = self.listen()
        self.end(listener)
        self.notify("instance.delete.end")
        self.notify("instance.delete.end")
        another, _other = self.pools
        self.assertEqual(2, self.waiting(f"twotier-{another}"))
        _next, heard = self.listen()
        self.assertGreaterEqual(heard.servers, 2)

    def waiting(self, queue):
        with kombu.Connection(ADDRESS) as connection, connection.channel() as channel:
            return channel.queue_declare(queue, passive=True).message_count
