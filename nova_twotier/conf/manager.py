"""Options of the queue manager."""

from oslo_config import cfg, types

from nova_twotier.core import policies
from nova_twotier.core.slots import THRESHOLD

#: What the name of a pool may be: it becomes part of a provider's name.
POOL = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}"

DEFAULT = cfg.OptGroup("DEFAULT")
GROUP = cfg.OptGroup("manager", title="Queue manager")

DEFAULT_OPTS = [
    cfg.StrOpt(
        "state_path",
        default="/var/lib/nova-twotier",
        help="Directory of the queue manager's own files. It is made if it does not exist.",
    ),
]

OPTS = [
    cfg.StrOpt(
        "policy",
        mutable=True,
        default="amcbf",
        choices=[(name, policy.summary) for name, policy in sorted(policies.POLICIES.items())],
        help="""
Scheduling policy. Those that kill jobs (ccfcfs, acfcfs) let them begin anew, whatever preemption
they ask for. Only fcfs, sdf, sbf, smjf, bgmbf and bgmbf-sdf guarantee bandwidth: with any
other, a job that asks for it waits.

Example: amcbf
""",
    ),
    cfg.FloatOpt(
        "threshold",
        mutable=True,
        default=THRESHOLD,
        min=0,
        max=1,
        help="CPU utilisation of a foreground VM from which on its slot takes no background VM.",
    ),
    cfg.FloatOpt(
        "poll_interval",
        mutable=True,
        default=1.0,
        min=0.05,
        help="Seconds between two polls at Nova, Placement and the queue.",
    ),
    cfg.FloatOpt(
        "watch_interval",
        mutable=True,
        default=0.2,
        min=0.02,
        help="""
Seconds between two polls at the database, in the meantime: a new job, or a wish of an owner, is
dealt with at once. A notification of Nova is, too.
""",
    ),
    cfg.FloatOpt(
        "host_interval",
        default=10.0,
        min=0.05,
        help="Seconds between two polls at the host aggregates and compute services.",
    ),
    cfg.FloatOpt(
        "boot_grace",
        mutable=True,
        default=15.0,
        min=0,
        help="""
Seconds that a boot request may take to show in Nova's server list.

After a crash the manager waits this long before it repeats a request whose answer it did not see.
""",
    ),
    cfg.IntOpt(
        "attempts",
        mutable=True,
        default=3,
        min=1,
        help="How often an operation on a server, or the start of a job, is tried.",
    ),
    cfg.FloatOpt(
        "operation_timeout",
        mutable=True,
        default=900.0,
        min=1,
        help="""
Seconds after which the start, the preemption or the move of a job is given up.

A start is undone and tried again. A job that cannot be preempted or moved stays as it is; until
that is given up, nothing else is decided for its pool.

Give more than the longest boot takes, and the longest upload of an image when a server is shelved.

Example: 1800
""",
    ),
    cfg.IntOpt(
        "retries",
        default=3,
        min=0,
        help="""
How often a job begins anew after its servers or their host broke, unless it says so itself. After
that it fails.
""",
    ),
    cfg.FloatOpt(
        "host_down_grace",
        mutable=True,
        default=60.0,
        min=0,
        help="""
Seconds that a nova-compute may be down before the jobs on its host begin anew.

Nova itself takes a service for down only after its own service_down_time. Give more than Nova's
report_interval: hosts that go down together are seen to do so one after the other.
""",
    ),
    cfg.FloatOpt(
        "outage_share",
        mutable=True,
        default=1 / 3,
        min=0,
        max=1,
        help="""
Share of a pool's hosts, or of all two-tier hosts. If more of them go down together, and more than
one, the manager takes it for an outage of the control plane (RabbitMQ, nova-conductor, the network)
and not for as many dead hosts: it begins nothing anew and decides nothing until they are back, or
until an operator has told Nova that they are dead (openstack compute service set --down). 1: every
host that is down for host_down_grace is taken for dead.

Example: 0.5
""",
    ),
    cfg.FloatOpt(
        "outage_window",
        mutable=True,
        default=120.0,
        min=0,
        help="Seconds between the last heartbeats of hosts that are said to go down together.",
    ),
    cfg.FloatOpt(
        "dead_host_interval",
        mutable=True,
        default=10.0,
        min=0,
        help="Seconds between two hosts that are taken for dead.",
    ),
    cfg.StrOpt(
        "fence_command",
        mutable=True,
        default="",
        help="""
Command that makes sure that no guest runs on a host any more, such as one that cuts its power. It
gets the name of the hypervisor as its last argument, runs without a shell, and must end with 0
before the jobs of the host begin anew. Without it they begin anew after host_down_grace, and their
guests may run twice for a while.

Example: /usr/local/bin/fence-host --reason nova-twotier
""",
    ),
    cfg.FloatOpt(
        "fence_timeout",
        mutable=True,
        default=60.0,
        min=1,
        help="Seconds that fence_command may take. It is run again a minute after it failed.",
    ),
    cfg.FloatOpt(
        "preemption_grace",
        mutable=True,
        default=0.0,
        min=0,
        help="""
Seconds between the notice to the guests of a job that is to be shelved (server metadata
``twotier_notice``) and their shutdown by ACPI, which Nova gives its own time. 0: no notice.

Example: 30
""",
    ),
    cfg.FloatOpt(
        "walltime_warning",
        mutable=True,
        default=60.0,
        min=0,
        help="Seconds before the end of its walltime at which a job and its guests are warned.",
    ),
    cfg.FloatOpt(
        "min_run_time",
        mutable=True,
        default=0.0,
        min=0,
        help="""
Seconds that a job runs, each time that it was started, before it may be preempted or moved.

Example: 300
""",
    ),
    cfg.FloatOpt(
        "swap_hysteresis",
        mutable=True,
        default=0.0,
        min=0,
        help="""
Seconds after a change of its tier in which a job keeps it, and is not preempted either.

Example: 60
""",
    ),
    cfg.IntOpt(
        "concurrency",
        default=8,
        min=1,
        help="Requests to Nova that run at the same time.",
    ),
    cfg.ListOpt(
        "pools",
        default=["default"],
        item_type=types.String(regex=rf"\A{POOL}\Z"),
        help="""
Pools of hosts: of the queue managers those that they serve, of the API those that it takes jobs
for. A host's pool is the metadata twotier:pool of its aggregate; without any it is in "default".

Example: default,gpu
""",
    ),
    cfg.StrOpt(
        "flavor",
        help="Name of the flavor with resources:CUSTOM_TWOTIER_SLOT=1 that jobs get.",
    ),
    cfg.StrOpt("image", help="Uuid of the image that jobs get."),
    cfg.StrOpt(
        "network",
        default="none",
        help="""
Network of the servers: ``none``, ``auto``, or the uuid of a network.

Example: auto
""",
    ),
]


def register_opts(conf):
    conf.register_opts(DEFAULT_OPTS)
    conf.register_group(GROUP)
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(DEFAULT, DEFAULT_OPTS), (GROUP, OPTS)]
