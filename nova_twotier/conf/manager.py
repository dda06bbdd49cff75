"""Options of the queue manager."""

from oslo_config import cfg

from nova_twotier.core import policies
from nova_twotier.core.ranking import THRESHOLD

DEFAULT = cfg.OptGroup("DEFAULT")
GROUP = cfg.OptGroup("manager", title="Queue manager")

DEFAULT_OPTS = [
    cfg.StrOpt(
        "state_path",
        default="/var/lib/nova-twotier",
        help="Directory of the queue manager's own files. It is made if it does not exist.",
    ),
]

OPTS = [
    cfg.StrOpt(
        "policy",
        default="amcbf",
        choices=[
            (name, policy.__doc__.splitlines()[0])
            for name, policy in sorted(policies.POLICIES.items())
            if not (policy.kills or policy.bandwidth)
        ],
        help="""
Scheduling policy. Those that kill jobs (ccfcfs, acfcfs) or go by their bandwidth (sbf) are for the
simulator only so far.

Example: amcbf
""",
    ),
    cfg.FloatOpt(
        "threshold",
        default=THRESHOLD,
        min=0,
        max=1,
        help="CPU utilisation of a foreground VM from which on its slot takes no background VM.",
    ),
    cfg.FloatOpt(
        "poll_interval",
        default=1.0,
        min=0.05,
        help="Seconds between two looks at Nova, Placement and the queue.",
    ),
    cfg.FloatOpt(
        "host_interval",
        default=10.0,
        min=0.05,
        help="Seconds between two looks at the host aggregates and compute services.",
    ),
    cfg.FloatOpt(
        "boot_grace",
        default=15.0,
        min=0,
        help="""
Seconds that a boot request may take to show in Nova's server list.

After a crash the manager waits this long before it repeats a request whose answer it did not see.
""",
    ),
    cfg.IntOpt(
        "attempts",
        default=3,
        min=1,
        help="How often an operation on a server, or the start of a job, is tried.",
    ),
    cfg.IntOpt(
        "concurrency",
        default=8,
        min=1,
        help="Requests to Nova that run at the same time.",
    ),
    cfg.StrOpt(
        "flavor",
        help="Name of the flavor with resources:CUSTOM_TWOTIER_SLOT=1 that jobs get.",
    ),
    cfg.StrOpt("image", help="Uuid of the image that jobs get."),
    cfg.StrOpt(
        "network",
        default="none",
        help="""
Network of the servers: ``none``, ``auto``, or the uuid of a network.

Example: auto
""",
    ),
]


def register_opts(conf):
    conf.register_opts(DEFAULT_OPTS)
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(DEFAULT, DEFAULT_OPTS), (GROUP, OPTS)]
