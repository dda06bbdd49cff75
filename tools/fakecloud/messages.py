"""Lets Nova's services sleep until a message arrives.

oslo.messaging's fake driver looks for messages 20 times a second, with two threads for each
nova-compute: on a cloud of a thousand hosts that alone takes more than a core.
"""

import threading

from oslo_messaging._drivers import base, impl_fake


class _Queue(list):
    """Messages, and the events of those who wait for them."""

    def __init__(self):
        super().__init__()
        self.waiting: list[threading.Event] = []

    def append(self, message):
        super().append(message)
        for arrived in self.waiting:
            arrived.set()


class Exchange(impl_fake.FakeExchange):
    def _get_topic_queue(self, topic, pool=None):
        return self._topic_queues.setdefault((topic, pool), _Queue())

    def _get_server_queue(self, topic, server):
        return self._server_queues.setdefault((topic, server), _Queue())

    def wake(self, target, pool, arrived: threading.Event) -> None:
        """Set an event whenever a message for a target arrives."""
        with self._queues_lock:
            if target.server:
                queue = self._get_server_queue(target.topic, target.server)
            else:
                queue = self._get_topic_queue(target.topic, pool)
            queue.waiting.append(arrived)


class Listener(impl_fake.FakeListener):
    def __init__(self, exchange_manager, targets, pool=None):
        super().__init__(exchange_manager, targets, pool)
        self._arrived = threading.Event()
        for target in targets:
            self._exchange(target).wake(target, pool, self._arrived)

    @base.batch_poll_helper
    def poll(self, timeout=None):
        self._arrived.clear()
        message = self._next()
        # One that arrives from here on sets the event, and so does `stop`.
        if message is None and not self._stopped.is_set():
            self._arrived.wait(timeout)
            message = self._next()
        return message

    def stop(self):
        super().stop()
        self._arrived.set()

    def _next(self) -> impl_fake.FakeIncomingMessage | None:
        for target in self._targets:
            context, message, reply, requeue = self._exchange(target).poll(target, self._pool)
            if message is not None:
                return impl_fake.FakeIncomingMessage(context, message, reply, requeue)
        return None

    def _exchange(self, target) -> Exchange:
        return self._exchange_manager.get_exchange(target.exchange)


def patch() -> None:
    """Before any service starts."""
    impl_fake.FakeExchange, impl_fake.FakeListener = Exchange, Listener
