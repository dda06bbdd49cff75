"""Options of the REST API; oslo.policy and keystonemiddleware have their own."""

from oslo_config import cfg

GROUP = cfg.OptGroup("api", title="REST API")

OPTS = [
    cfg.StrOpt(
        "auth_strategy",
        default="keystone",
        choices=[
            ("keystone", "Tokens are validated by Keystone, see [keystone_authtoken]."),
            (
                "noauth",
                "For demonstrations only: the token is `user:project` or `user:project:role,role`, "
                "and everybody is who they say they are. The user `admin` has the role admin, "
                "others have member. Only `twotier-api` serves it, on a loopback address.",
            ),
        ],
        help="How the API knows who sends a request.",
    ),
    cfg.StrOpt(
        "listen",
        default="127.0.0.1",
        help="""
Address that `twotier-api` listens on. TLS is for a proxy in front of it. Other WSGI servers do not
read this option.

Example: 127.0.0.1
""",
    ),
    cfg.PortOpt(
        "port",
        default=8782,
        help="Port that `twotier-api` listens on. Other WSGI servers do not read this option.",
    ),
    cfg.IntOpt(
        "threads",
        default=10,
        min=1,
        help="Requests that `twotier-api` answers at the same time.",
    ),
    cfg.IntOpt(
        "max_connections",
        default=500,
        min=1,
        help="""
Connections that `twotier-api` has open at the same time. For one more, it closes the one that has
waited for its client the longest, so that slow clients keep nobody out. Each takes a file
descriptor, see `ulimit -n`.
""",
    ),
    cfg.IntOpt(
        "request_timeout",
        default=30,
        min=1,
        help="""
Seconds within which a client of `twotier-api` must send the whole of a request, and within which it
must take the answer and begin the next request. After that its connection is closed.
""",
    ),
    cfg.IntOpt(
        "max_request_header_size",
        default=32768,
        min=1024,
        help="""
Bytes that the request line and the headers of a request to `twotier-api` may have. Bodies are
limited by ``[oslo_middleware]max_request_body_size``.
""",
    ),
    cfg.IntOpt(
        "max_limit",
        default=1000,
        min=1,
        help="Items of a list in one answer; the answer says where the next ones are.",
    ),
    cfg.IntOpt(
        "max_job_size",
        default=10000,
        min=1,
        help="Processes of one job.",
    ),
    cfg.IntOpt(
        "max_jobs_per_project",
        default=10000,
        min=-1,
        help="Jobs of a project that are not over; -1: as many as it likes.",
    ),
    cfg.IntOpt(
        "max_processes_per_project",
        default=100000,
        min=-1,
        help="Processes of all jobs of a project that are not over; -1: as many as it likes.",
    ),
    cfg.StrOpt(
        "rate_limit",
        default="1200/minute",
        help="""
Requests that a project may make, as `limits` writes it: a number for each second, minute, hour or
day, several with semicolons between them. Who asks more often is answered 429, and when to ask
again. Empty: as many as it likes. Requests without a valid token, and those for `/healthcheck` and
`/metrics`, do not count; those with a token for the whole system count for its user.

Example: 50/second;1000/minute
""",
    ),
    cfg.StrOpt(
        "rate_limit_storage",
        default="memory://",
        secret=True,
        help="""
Where requests are counted, as an address for `limits`. In memory, each process of the API counts
its own, so that a project may ask as often of each of them.

Examples: memory://, memcached://HOST:11211, redis://HOST:6379
""",
    ),
    cfg.BoolOpt(
        "metrics",
        default=False,
        help="""
Answer `/metrics`, in the format of Prometheus.

It asks for no token: switch it on only where a proxy keeps `/metrics` from the outside. It tells
how many jobs there are in which state, and how many requests took how long; nothing of a project,
a user or a job. Servers of several processes need the environment variable
PROMETHEUS_MULTIPROC_DIR, see the documentation of prometheus_client.
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
