"""Publishes the events of jobs as notifications of oslo.messaging."""

import socket
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg

from nova_twotier.conf import ConfigError


class JobBus:
    """The message bus of `[job_events]transport_url`; it connects at the first event.

    :raises ConfigError: if the library is missing.
    """

    def __init__(self, conf: cfg.ConfigOpts):
        self._conf = conf
        self._notifier: Any = None
        if conf.job_events.transport_url:
            # From the extra `notifications`: imported only if there is a bus.
            try:
                import oslo_messaging
            except ImportError as error:
                raise ConfigError(
                    "[job_events]transport_url is set, but oslo.messaging is not installed: "
                    "install nova-twotier[notifications], or leave the option out"
                ) from error
            self._messaging = oslo_messaging

    @property
    def configured(self) -> bool:
        return bool(self._conf.job_events.transport_url)

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
