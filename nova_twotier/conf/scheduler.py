"""Options of the Nova scheduler plugin, read from nova.conf."""

from oslo_config import cfg

from nova_twotier.conf.numbers import FloatOpt
from nova_twotier.core.slots import THRESHOLD

GROUP = cfg.OptGroup("twotier", title="Two-tier scheduling in nova-scheduler")

OPTS = [
    FloatOpt(
        "background_threshold",
        default=THRESHOLD,
        min=0.01,
        max=1.0,
        help="""
CPU utilisation (0.01 to 1) of a foreground VM at and above which its slot takes no background VM.

The BackgroundThresholdFilter uses it. Set ``[manager]threshold`` to the same value.

Example: 0.96
""",
    ),
    cfg.StrOpt(
        "missing_reading",
        default="closed",
        choices=[
            ("closed", "slots with a foreground VM take no background VM on such a host"),
            ("open", "the foreground VMs of such a host count as idle"),
        ],
        help="""
How the BackgroundThresholdFilter treats a host whose foreground VMs have no CPU points in Placement
at all, so that their CPU utilisation is unknown: because neither a queue manager nor a node agent
serves the host, or because the VMs have only just booted.

Slots without a foreground VM are open in either case, and jobs of the queue manager are not
affected, since the manager knows their CPU utilisation. Choose ``open`` for a cloud without queue
manager and node agents; with ``closed``, a background VM there only gets a slot without a
foreground VM.

Example: closed
""",
    ),
    FloatOpt(
        "complement_weight_multiplier",
        default=10000.0,
        help="""
Multiplier of the ComplementWeigher.

Positive (default): VMs go where the other tier leaves the most CPU idle. Negative: where it leaves
the least. 0 switches the weigher off. The default outweighs all default weighers of Nova except the
build-failure and the cross-cell weigher. The aggregate metadata key
``twotier_complement_weight_multiplier`` overrides it for the hosts of an aggregate. It does not
weigh requests that the AdaBaWeigher weighs.

Related options: ``adaba_weight_multiplier``.

Example: 10000.0
""",
    ),
    FloatOpt(
        "adaba_weight_multiplier",
        default=10000.0,
        help="""
Multiplier of the AdaBaWeigher, which weighs requests for a bandwidth (``twotier:mbps``) that belong
to no job of the queue manager.

Positive (default): VMs with little bandwidth fill up hosts in use, VMs with much bandwidth get
empty hosts. Negative: the reverse. 0 switches the weigher off: the ComplementWeigher weighs these
requests, too. The aggregate metadata key ``twotier_adaba_weight_multiplier`` overrides it for the
hosts of an aggregate.

Related options: ``complement_weight_multiplier``, ``max_mbps``.

Example: 10000.0
""",
    ),
    FloatOpt(
        "max_mbps",
        default=1000.0,
        min=0.001,
        help="""
The largest bandwidth that a VM asks for, in Mbit/s (Bmax of the AdaBa weight), where no queue
manager has published it.

Bmax is the largest bandwidth that jobs of the queue manager ever asked for. The manager gives
it to the VirtualClusterFilter with each boot of a job, and publishes it in Placement, where the
AdaBaWeigher and the VirtualClusterFilter read it for other requests with ``twotier:mbps``. This
option is no lower bound of it, but takes its place where there is none: without a queue
manager, or while no job has asked for bandwidth. Then set it to the rate of a host's link. A
request for more counts as one for this much.

Example: 1000.0
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
