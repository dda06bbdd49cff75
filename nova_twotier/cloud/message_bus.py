"""Loads oslo.messaging for an option that names a message bus."""

from typing import Any

from oslo_config import cfg

from nova_twotier.conf import ConfigError


def messaging(conf: cfg.ConfigOpts, group: str) -> Any:
    """The library, from the extra `notifications`; None if `transport_url` in the group is empty.

    :raises ConfigError: if the library is missing, or does not know the kind of bus.
    """
    url = getattr(conf, group).transport_url
    if not url:
        return None
    option = f"[{group}]transport_url"
    # Imported only if there is a bus: it is not installed everywhere.
    try:
        import oslo_messaging
    except ImportError as error:
        raise ConfigError(
            f"{option} is set, but oslo.messaging is not installed: install "
            "nova-twotier[notifications], or leave the option out"
        ) from error
    try:
        # Without connecting; who uses it makes a transport of its own.
        oslo_messaging.get_notification_transport(conf, url)
    except oslo_messaging.MessagingException as error:
        # Without the URL: it may contain a password.
        raise ConfigError(
            f"{option} cannot be used: give one such as rabbit://USER:PASSWORD@HOST:5672/"
        ) from error
    return oslo_messaging
