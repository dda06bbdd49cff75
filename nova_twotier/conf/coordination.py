"""Options of the election of leaders among several queue managers."""

from oslo_config import cfg

GROUP = cfg.OptGroup("coordination", title="Several queue managers")

OPTS = [
    cfg.StrOpt(
        "backend_url",
        default="file://$state_path/coordination",
        secret=True,
        help="""
URL of the service by which tooz elects the leader of each pool. The default, files, works for
managers on one machine.

For managers on several machines, give a service that all of them can reach, and install its library
(``pip install 'tooz[etcd3gw]'``, ``'tooz[mysql]'`` or ``'tooz[postgresql]'``).

Examples: ``etcd3+http://HOST:2379?api_version=v3``, ``mysql://USER:PASSWORD@HOST/DATABASE``,
``postgresql://USER:PASSWORD@HOST:5432/DATABASE``
""",
    ),
    cfg.IntOpt(
        "lease",
        default=10,
        min=1,
        help="""
Seconds without a heartbeat after which etcd drops a leader. A standby tries to become the leader
twice in that time, so it takes over in less than two leases.

With files, a leader keeps the lead as long as its process lives; with MySQL and PostgreSQL, as long
as its connection lasts.
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
