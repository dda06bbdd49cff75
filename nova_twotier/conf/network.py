"""Options of what jobs' bandwidth means to Neutron."""

from oslo_config import cfg, types

GROUP = cfg.OptGroup("network", title="Bandwidth of jobs in Neutron")

OPTS = [
    cfg.BoolOpt(
        "qos",
        default=True,
        help="""
Whether the ports of jobs that ask for bandwidth get a QoS policy of Neutron that guarantees it.

It is asked for with the user of group ``[nova]``, if the catalog has a Neutron with the service
plugin ``qos``. Without one, a job's bandwidth is counted on the links, and nothing holds other
traffic back.
""",
    ),
    cfg.BoolOpt(
        "maximum",
        default=False,
        help="""
Whether the bandwidth that a job asks for is also the most that each of its ports may use.

It holds for jobs that start from then on.
""",
    ),
    cfg.ListOpt(
        "directions",
        default=["egress"],
        item_type=types.String(choices=["egress", "ingress"]),
        help="""
Directions of the rules, seen from the server: ``egress``, what it sends, and ``ingress``.

Neutron's drivers give a minimum to what is sent; of what arrives it is counted in Placement at
best, and a driver that does not know such a rule refuses the port.

Example: egress,ingress
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
