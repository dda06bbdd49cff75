"""Options of the queue manager's database: those of oslo.db that apply to it."""

from oslo_config import cfg

GROUP = cfg.OptGroup("database", title="Database of the queue manager")

CONNECTION = cfg.StrOpt(
    "connection",
    default="sqlite:///$state_path/twotier.sqlite",
    secret=True,
    help="""
SQLAlchemy URL of the database that holds jobs, actions and events.

The first process that opens a SQLite file creates it and upgrades its tables. On a database server,
create an empty database, then run ``twotier-manage db upgrade``.

Examples: ``sqlite:////var/lib/nova-twotier/twotier.sqlite``,
``mysql+pymysql://twotier:PASSWORD@HOST/twotier``,
``postgresql+psycopg://twotier:PASSWORD@HOST/twotier``
""",
)

#: Of database servers only: a SQLite file needs none of them.
SERVER = (
    "connection_debug",
    "connection_parameters",
    "connection_recycle_time",
    "connection_trace",
    "max_overflow",
    "max_pool_size",
    "max_retries",
    "mysql_sql_mode",
    "mysql_wsrep_sync_wait",
    "pool_timeout",
    "retry_interval",
)


def _options() -> list[cfg.Opt]:
    try:
        from oslo_db import options
    except ImportError:
        # It comes with the extra `manager`; without it nothing opens the database.
        return [CONNECTION]
    return [CONNECTION, *(opt for opt in options.database_opts if opt.name in SERVER)]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(_options(), group=GROUP)


def list_opts():
    return [(GROUP, _options())]
