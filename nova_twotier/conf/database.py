"""Options of the queue manager's database."""

from oslo_config import cfg

GROUP = cfg.OptGroup("database", title="Database of the queue manager")

OPTS = [
    cfg.StrOpt(
        "connection",
        default="sqlite:///$state_path/twotier.sqlite",
        help="""
SQLAlchemy URL of the database that holds jobs, actions and events.

Example: sqlite:////var/lib/nova-twotier/twotier.sqlite
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
