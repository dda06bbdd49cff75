"""Options of the election of leaders among several queue managers."""

from oslo_config import cfg

GROUP = cfg.OptGroup("coordination", title="Several queue managers")

OPTS = [
    cfg.StrOpt(
        "backend_url",
        default="file://$state_path/coordination",
        secret=True,
        help="""
What tooz elects the leader of each pool with. The default is for managers on one machine.

For several machines, a service that all of them reach, and its library (``pip install
'tooz[etcd3gw]'``, ``'tooz[mysql]'``, ``'tooz[postgresql]'``).

Examples: ``etcd3+http://HOST:2379?api_version=v3``, ``mysql://USER:PASSWORD@HOST/DATABASE``,
``postgresql://USER:PASSWORD@HOST:5432/DATABASE``
""",
    ),
    cfg.IntOpt(
        "lease",
        default=10,
        min=1,
        help="""
Seconds for which a leader that says nothing still counts as one, where leaders say something: with
etcd. A standby tries to lead twice in that time, so that it leads after less than two leases.

With files, MySQL and PostgreSQL a leader counts as one as long as its process, or its connection,
is there.
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
