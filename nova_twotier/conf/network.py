"""Options for enforcing the bandwidth of jobs in Neutron."""

from oslo_config import cfg, types

GROUP = cfg.OptGroup("network", title="Bandwidth of jobs in Neutron")

OPTS = [
    cfg.BoolOpt(
        "qos",
        default=True,
        help="""
Whether the manager gives the ports of jobs with bandwidth a QoS policy that guarantees it.

The manager creates the policies as the user of group ``[nova]``, if the catalog has a Neutron with
the service plugin ``qos``. Otherwise it only accounts for bandwidth, link by link, and nothing
limits other traffic.
""",
    ),
    cfg.BoolOpt(
        "maximum",
        default=False,
        help="""
Whether the bandwidth of a job is also the maximum of each of its ports.

A change applies to jobs that start after it.
""",
    ),
    cfg.ListOpt(
        "directions",
        default=["egress"],
        item_type=types.String(choices=["egress", "ingress"]),
        help="""
Directions of the QoS rules, as the server sees them: ``egress`` (what it sends), ``ingress`` (what
it receives) or both.

Neutron's drivers enforce a minimum for egress. For ingress, Placement accounts for it at best, and
a driver without such rules refuses the port.

Example: egress,ingress
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
