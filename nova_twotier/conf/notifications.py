"""Options of Nova's notifications, which wake the queue manager when something changes."""

from oslo_config import cfg

GROUP = cfg.OptGroup("notifications", title="Nova's notifications")

OPTS = [
    cfg.StrOpt(
        "transport_url",
        secret=True,
        help="""
URL of the message bus that carries Nova's versioned notifications, as oslo.messaging takes it.
Without it the manager only polls.

Install nova-twotier[notifications], and in nova.conf set ``[notifications]notification_format`` to
``versioned`` or ``both`` and an ``[oslo_messaging_notifications]driver``. oslo.messaging's own
options, such as those of group ``[oslo_messaging_rabbit]``, set the details of the connection.

Example: ``rabbit://USER:PASSWORD@HOST:5672/``
""",
    ),
    cfg.StrOpt(
        "exchange",
        default="nova",
        help="Exchange of the notifications: the control_exchange of nova.conf.",
    ),
    cfg.ListOpt(
        "topics",
        default=["versioned_notifications"],
        help="""
Topics of the notifications: the [notifications]versioned_notifications_topics of nova.conf.

For each pool the manager reads from its own queue, twotier-POOL, so other consumers of the topics
still get every notification.
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
