"""Options of the Nova scheduler plugin, read from nova.conf."""

from oslo_config import cfg

from nova_twotier.core.slots import THRESHOLD

GROUP = cfg.OptGroup("twotier", title="Two-tier scheduling in nova-scheduler")

OPTS = [
    cfg.FloatOpt(
        "background_threshold",
        default=THRESHOLD,
        min=0.01,
        max=1.0,
        help="""
CPU utilisation, 0.01 to 1, of a foreground VM from which on its slot takes no background VM.

For the BackgroundThresholdFilter. Give the queue manager the same in ``[manager]threshold``.

Example: 0.96
""",
    ),
    cfg.StrOpt(
        "missing_reading",
        default="closed",
        choices=[
            ("closed", "no background VM is put beside the foreground VMs of such a host"),
            ("open", "its foreground VMs count as idle"),
        ],
        help="""
What the BackgroundThresholdFilter makes of a host of whose foreground VMs none has CPU points in
Placement (which tells only their sum): nobody has said yet how much CPU they use. Neither the queue
manager nor a node agent is at work there, or the VMs have only just been booted.

Slots without a foreground VM are open either way, and jobs of the queue manager are not concerned:
it knows how much CPU they use before Placement does. Choose ``open`` for a cloud without queue
manager and node agents; otherwise background VMs get no slot there that has a foreground VM.

Example: closed
""",
    ),
    cfg.FloatOpt(
        "complement_weight_multiplier",
        default=10000.0,
        help="""
Multiplier of the ComplementWeigher.

Positive (default): processes go where the other tier leaves the most CPU. Negative: where it leaves
the least. 0 switches the weigher off. The default outweighs all default weighers of Nova except the
build-failure and the cross-cell weigher. The aggregate metadata key
``twotier_complement_weight_multiplier`` overrides it for the hosts of an aggregate.

Related options: ``adaba_weight_multiplier``.

Example: 10000.0
""",
    ),
    cfg.FloatOpt(
        "adaba_weight_multiplier",
        default=0.0,
        help="""
Multiplier of the AdaBaWeigher, which chooses hosts by the bandwidth that a request asks for.

0 (default) switches the weigher off. Positive: requests of little bandwidth fill up used hosts,
those of much bandwidth get empty ones. Negative: the reverse. The aggregate metadata key
``twotier_adaba_weight_multiplier`` overrides it for the hosts of an aggregate.

The weights of both weighers add up. Give the one that shall decide a thousand times the
multiplier of the other, or the other 0.

Related options: ``complement_weight_multiplier``, ``max_mbps``.

Example: 10000.0
""",
    ),
    cfg.FloatOpt(
        "max_mbps",
        default=1000.0,
        min=0.001,
        help="""
The largest bandwidth that a VM asks for, in Mbit/s (Bmax of the AdaBa weight).

The AdaBaWeigher measures by it what a request asks for: hint ``twotier:mbps``, else the flavor's
extra spec ``twotier:mbps``, else 0. A request for more counts as one for this much. It is the same
for all hosts; usually the rate of a host's link. VirtualClusterFilter plans with it, too.

Example: 1000.0
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
