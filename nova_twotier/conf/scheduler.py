"""Options of the Nova scheduler plugin, read from nova.conf."""

from oslo_config import cfg

GROUP = cfg.OptGroup("twotier", title="Two-tier scheduling in nova-scheduler")

OPTS = [
    cfg.FloatOpt(
        "complement_weight_multiplier",
        default=10000.0,
        help="""
Multiplier of the ComplementWeigher.

Positive (default): processes go where the other tier leaves the most CPU. Negative: where it leaves
the least. 0 switches the weigher off. The aggregate metadata key
``twotier_complement_weight_multiplier`` overrides it for the hosts of an aggregate.

Example: 10000.0
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
