"""Options of the delivery of jobs' events: to their owners' webhooks, and to a message bus."""

from oslo_config import cfg

from nova_twotier.conf.numbers import FloatOpt

GROUP = cfg.OptGroup("job_events", title="Delivery of the events of jobs")

OPTS = [
    cfg.ListOpt(
        "allowed_webhooks",
        default=[],
        mutable=True,
        help="""
Beginnings of the URLs that a job's owner may name as its webhook, each with a scheme and a host.
Scheme, host and port must be the same, and the path must begin with theirs. Empty: no webhooks.

The queue manager posts to these URLs from its own host, and follows no redirect. Name no server
that trusts requests because of where they come from. API and queue manager both read the option;
what is taken out of it gets no more requests.

Example: https://hooks.example.org/, https://chat.example.org/services/
""",
    ),
    FloatOpt(
        "timeout",
        default=10.0,
        min=0.1,
        max=60.0,
        help="Seconds that a webhook may take to accept a connection, and to answer.",
    ),
    FloatOpt(
        "retry_for",
        default=86400.0,
        min=0.0,
        help="""
Seconds for which an event is tried again, counted from when it happened. The first pause is 10 s;
every further one is twice as long, up to an hour. After that the event is not delivered, and the
log says so.
""",
    ),
    cfg.StrOpt(
        "cafile",
        help="File of certificate authorities that sign the certificates of webhooks.",
    ),
    cfg.StrOpt(
        "transport_url",
        secret=True,
        help="""
URL of a message bus on which the events of all jobs are published as notifications, as
oslo.messaging takes it. It needs nova-twotier[notifications].

The API reads it, too: events are published of jobs that are submitted while it is set there.

Example: ``rabbit://USER:PASSWORD@HOST:5672/``
""",
    ),
    cfg.ListOpt(
        "topics",
        default=["twotier_notifications"],
        help="Topics of these notifications; their priority is info.",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
