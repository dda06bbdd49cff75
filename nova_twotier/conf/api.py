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
        help="How the API authenticates requests.",
    ),
    cfg.StrOpt(
        "listen",
        default="127.0.0.1",
        help="""
Address that `twotier-api` listens on. For TLS put a proxy in front of it. Other WSGI servers do
not read this option.

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
        help="Number of requests that `twotier-api` handles at the same time.",
    ),
    cfg.IntOpt(
        "max_connections",
        default=500,
        min=1,
        help="""
Maximum number of open connections of `twotier-api`. When it accepts one more, it closes the one
that has waited for its client the longest, so that slow clients cannot block others. Each takes
a file descriptor, see `ulimit -n`.
""",
    ),
    cfg.IntOpt(
        "request_timeout",
        default=30,
        min=1,
        help="""
Seconds within which a client of `twotier-api` must send a whole request, and within which it
must receive the answer and begin the next request. After that its connection is closed.
""",
    ),
    cfg.IntOpt(
        "max_request_header_size",
        default=32768,
        min=1024,
        help="""
Maximum size in bytes of the request line and headers of a request to `twotier-api`. Bodies are
limited by ``[oslo_middleware]max_request_body_size``.
""",
    ),
    cfg.IntOpt(
        "max_limit",
        default=1000,
        min=1,
        help="Maximum number of items in one answer; the answer links to the next page.",
    ),
    cfg.IntOpt(
        "max_job_size",
        default=10000,
        min=1,
        help="Maximum number of processes of one job.",
    ),
    cfg.IntOpt(
        "max_jobs_per_project",
        default=10000,
        min=-1,
        help="Maximum number of open jobs of a project; -1: no limit.",
    ),
    cfg.IntOpt(
        "max_processes_per_project",
        default=100000,
        min=-1,
        help="Maximum number of processes in the open jobs of a project; -1: no limit.",
    ),
    cfg.StrOpt(
        "rate_limit",
        default="1200/minute",
        help="""
Rate limit on the requests of a project, in the notation of the library `limits`: a number per
second, minute, hour or day; several are separated by semicolons. Requests above it get a 429
with ``Retry-After``. Empty: no limit. Requests without a valid token, and those for
`/healthcheck` and `/metrics`, do not count; those with a system-scoped token count for its user.

Example: 50/second;1000/minute
""",
    ),
    cfg.StrOpt(
        "rate_limit_storage",
        default="memory://",
        secret=True,
        help="""
Where requests are counted, as a storage URI of `limits`. In memory, each process of the API
counts separately, so that the limit applies to each of them.

Examples: memory://, memcached://HOST:11211, redis://HOST:6379
""",
    ),
    cfg.BoolOpt(
        "board",
        default=False,
        help="""
Serve `/board`, a page for browsers that shows the queue live, and `/v1/login`, with which its users
get a token of the Keystone of [keystone_authtoken]. `twotier-api` is then two processes and their
parent: one answers what boards ask, so that their large pages do not slow down other requests.

Put TLS in front of the API: the page sends passwords. With ``auth_strategy = noauth`` nobody logs
in, and everybody who reaches the page may do everything.
""",
    ),
    cfg.DictOpt(
        "board_websso",
        default={},
        help="""
Ways to log in at the board by Keystone's single sign-on: the protocol, or the identity provider
and its protocol, as Keystone has them, and the name that the page shows. Keystone must trust
the board: its address, as browsers show it, must be a ``trusted_dashboard`` in the section
[federation] of keystone.conf.

Example: acme/openid:ACME Corporation,saml2:University
""",
    ),
    cfg.StrOpt(
        "board_websso_url",
        help="""
Address of Keystone as the users' browsers reach it, to log in by ``board_websso``. Default:
``www_authenticate_uri`` of [keystone_authtoken]. Logins are taken only from its pages.

Example: https://keystone.example.org:5000/v3
""",
    ),
    cfg.StrOpt(
        "login_limit",
        default="10/minute;100/hour",
        help="""
Rate limit on logins at `/v1/login`, in the notation of ``rate_limit``: of those from one address
(or one IPv6 /64), and of those as one user from addresses from which the user has not logged in
within two weeks. They are counted in ``rate_limit_storage``. Behind a proxy all logins come from
its address, unless ``[oslo_middleware]enable_proxy_headers_parsing`` is on, and the proxy sets
X-Forwarded-For or adds to it, and removes the header Forwarded. Empty: no limit.

Example: 10/minute
""",
    ),
    cfg.BoolOpt(
        "metrics",
        default=False,
        help="""
Serve `/metrics`, in the format of Prometheus.

It needs no token: enable it only where a proxy blocks `/metrics` from outside. It shows the
number of jobs in each state, and the number and duration of requests, but nothing about a
project, a user or a job. WSGI servers with several processes, other than `twotier-api`, need the
environment variable PROMETHEUS_MULTIPROC_DIR, see the documentation of prometheus_client.
""",
    ),
]


def register_opts(conf):
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(GROUP, OPTS)]
