"""Listens to Nova's versioned notifications, which arrive before a poll would see the change.

They only wake the loop, which then polls. A lost notification costs no more than the wait for the
next poll.
"""

import threading
from collections.abc import Callable
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging

from nova_twotier.cloud import message_bus

LOG = logging.getLogger(__name__)

#: An operation on a server ended: it may be on another host, in another state, or gone.
SERVERS = r"^instance\..*\.(end|error)$"
#: The hosts or their aggregates may have changed.
HOSTS = r"^(service\.(create|update|delete)|aggregate\..*\.end)$"


class Listener:
    """Listens on behalf of a pool while this process leads it.

    Its queue on the bus is `twotier-POOL` for every leader: the next leader gets notifications that
    arrive while there is none. Other consumers still get all notifications.

    :param conf: options with group `[notifications]`. Without a URL there, it does nothing.
    :raises ConfigError: if the library is missing, or does not know the kind of bus.
    """

    def __init__(self, conf: cfg.ConfigOpts, pool: str):
        self._conf, self._pool = conf, pool
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._messaging = message_bus.messaging(conf, "notifications")

    def start(self, servers: Callable[[], None], hosts: Callable[[], None]) -> None:
        """Call `servers` or `hosts` from other threads at each notification about them."""
        if self._messaging is not None:
            self._stopping = threading.Event()
            # In the background: the manager polls as long as the bus does not answer.
            self._thread = threading.Thread(
                target=self._listen, args=(servers, hosts, self._stopping), daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Stop listening; a last notification may still arrive."""
        self._stopping.set()

    @property
    def listening(self) -> bool:
        """Whether notifications may still arrive."""
        return self._thread is not None and self._thread.is_alive()

    def _listen(
        self,
        servers: Callable[[], None],
        hosts: Callable[[], None],
        stopping: threading.Event,
    ) -> None:
        messaging, options = self._messaging, self._conf.notifications
        transport = messaging.get_notification_transport(self._conf, url=options.transport_url)
        targets = [
            messaging.Target(topic=topic, exchange=options.exchange) for topic in options.topics
        ]
        endpoints = [
            _Endpoint(messaging.NotificationFilter(event_type=SERVERS), servers),
            _Endpoint(messaging.NotificationFilter(event_type=HOSTS), hosts),
        ]
        listener = messaging.get_notification_listener(
            transport, targets, endpoints, executor="threading", pool=f"twotier-{self._pool}"
        )
        listener.start()
        LOG.info("Listening to Nova's notifications for pool %s", self._pool)
        stopping.wait()
        listener.stop()
        listener.wait()
        transport.cleanup()


class _Endpoint:
    """What oslo.messaging calls, by the priority of a notification."""

    def __init__(self, rule: Any, call: Callable[[], None]):
        self.filter_rule = rule
        self._call = call

    def info(self, *_notification: Any) -> None:
        self._call()

    error = info
