"""Options of Nova's notifications, by which the queue manager sees at once what has changed."""

from oslo_config import cfg

GROUP = cfg.OptGroup("notifications", title="Nova's notifications")

OPTS = [
    cfg.StrOpt(
        "transport_url",
        secret=True,
        help="""
oslo.messaging's URL of the bus with Nova's versioned notifications. Without it the manager polls.

It needs nova-twotier[notifications], and in nova.conf ``[notifications]notification_format`` =
``versioned`` or ``both`` with an ``[oslo_messaging_notifications]driver``. Details of the
connection are options of oslo.messaging, such as group ``[oslo_messaging_rabbit]``.

Example: ``rabbit://USER:PASSWORD@HOST:5672/``
""",
    ),
    cfg.StrOpt(
        "exchange",
        default="nova",
        help="Exchange of the notifications: control_exchange of nova.conf.",
    ),
    cfg.ListOpt(
        "topics",
        default=["versioned_notifications"],
        help="""
Topics of the notifications: [notifications]versioned_notifications_topics of nova.conf.

The manager reads them from a queue of its own for each pool, twotier-POOL: other consumers of the
topics miss nothing.
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
