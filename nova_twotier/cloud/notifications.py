"""Nova's versioned notifications, which say at once what a poll would find some time later.

They only wake the loop: what has happened it sees for itself, so one that is lost costs no more
than the wait for the next poll.
"""

import threading
from collections.abc import Callable
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging

from nova_twotier.conf import ConfigError

LOG = logging.getLogger(__name__)

#: Something ended about a server: it may be on another host, in another state, or gone.
SERVERS = r"^instance\..*\.(end|error)$"
#: The hosts, or what is said of them, may be others.
HOSTS = r"^(service\.(create|update|delete)|aggregate\..*\.end)$"


class Listener:
    """Listens on behalf of a pool, while it is led by this process.

    Its queue on the bus is `twotier-POOL`, whoever leads the pool: what comes while nobody does is
    told to the next leader, and other consumers get all notifications, too.

    :param conf: options with group `[notifications]`. Without a URL there, nothing happens at all.
    :raises ConfigError: if the library is missing.
    """

    def __init__(self, conf: cfg.ConfigOpts, pool: str):
        self._conf, self._pool = conf, pool
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        if conf.notifications.transport_url:
            # Of the extra `notifications`: imported only where there is a bus.
            try:
                import oslo_messaging
            except ImportError as error:
                raise ConfigError(
                    "[notifications]transport_url is set, but oslo.messaging is not installed: "
                    "install nova-twotier[notifications], or leave the option out"
                ) from error
            self._messaging = oslo_messaging

    def start(self, servers: Callable[[], None], hosts: Callable[[], None]) -> None:
        """Call `servers` or `hosts` whenever something was said of them, from other threads."""
        if self._conf.notifications.transport_url:
            self._stopping = threading.Event()
            # Not waited for: as long as the bus does not answer, the manager polls.
            self._thread = threading.Thread(
                target=self._listen, args=(servers, hosts, self._stopping), daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Soon nothing is told any more."""
        self._stopping.set()

    @property
    def listening(self) -> bool:
        """Whether something may still be told."""
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
