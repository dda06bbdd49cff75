"""Publishes the events of jobs as notifications of oslo.messaging."""

import socket
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg

from nova_twotier.cloud import message_bus


class JobBus:
    """The message bus of `[job_events]transport_url`; it connects at the first event.

    :raises ConfigError: if the library is missing, or does not know the kind of bus.
    """

    def __init__(self, conf: cfg.ConfigOpts):
        self._conf = conf
        self._notifier: Any = None
        self._messaging = message_bus.messaging(conf, "job_events")

    @property
    def configured(self) -> bool:
        return self._messaging is not None

    def publish(self, content: Mapping[str, Any]) -> None:
        """Publish an event; waits as long as the bus cannot be reached."""
        if self._notifier is None:
            options = self._conf.job_events
            transport = self._messaging.get_notification_transport(
                self._conf, url=options.transport_url
            )
            self._notifier = self._messaging.Notifier(
                transport,
                f"twotier-manager.{socket.gethostname()}",
                driver="messagingv2",
                topics=options.topics,
                retry=-1,
            )
        self._notifier.info({}, f"twotier.{content['type']}", dict(content))
