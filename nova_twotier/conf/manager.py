"""Options of the queue manager."""

from oslo_config import cfg, types

from nova_twotier.conf import metrics
from nova_twotier.conf.numbers import FloatOpt
from nova_twotier.core import fair_share, policies, prediction
from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.slots import THRESHOLD

#: What the name of a pool may be: it becomes part of a provider's name.
POOL = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}"

_TIERS = {FG: "foreground", BG: "background"}
#: The options that limit the slots of each user or project in a tier, by name.
SLOT_LIMITS: dict[str, tuple[str, Tier]] = {
    f"max_{word}_slots_per_{owner}": (owner, tier)
    for owner in ("user", "project")
    for tier, word in _TIERS.items()
}

DEFAULT = cfg.OptGroup("DEFAULT")
GROUP = cfg.OptGroup("manager", title="Queue manager")

DEFAULT_OPTS = [
    cfg.StrOpt(
        "state_path",
        default="/var/lib/nova-twotier",
        help="Directory of the queue manager's own files, created if it does not exist.",
    ),
]

OPTS = [
    cfg.StrOpt(
        "policy",
        mutable=True,
        default="amcbf",
        choices=[(name, policy.summary) for name, policy in sorted(policies.POLICIES.items())],
        help="""
Scheduling policy. ccfcfs and acfcfs kill jobs, which then begin anew,
whatever preemption mode they ask for, unless their guests save their work
(--checkpoint). cmbf, ambf, conservative, easy, easy-saf and easy-sjf do not
guarantee bandwidth: under them, jobs that ask for it wait.

Example: amcbf
""",
    ),
    FloatOpt(
        "deadline_factor",
        default=1.0,
        min=0,
        max=1000,
        help="""
The policy amcbf-deadline considers jobs by submission + deadline_factor * run time; others
ignore this option. The run time is the job's walltime, else its estimate, else what option
estimates has, else a day.

A later job can have its turn before this one only if it is submitted
within deadline_factor * the run time of this one: the smaller the
factor, the fewer do. 0: by submission alone, as under amcbf.

Example: 0.5
""",
    ),
    cfg.StrOpt(
        "estimates",
        default="user",
        choices=[
            (
                "user",
                "What their owners say: the smaller of estimate and walltime, or whichever is "
                "given.",
            ),
            ("historical", "For a job without an estimate, the median of similar finished jobs."),
        ],
        help="""
What policies are told of the run times of jobs.

With historical, a job that joins the queue without an estimate gets the median run time of the
finished jobs of the pool that are most similar to it, by owner and size, at most its walltime. It
keeps that, also after a restart. If it runs longer, more is expected, step by step. An estimate of
its owner always counts first.

Example: historical
""",
    ),
    cfg.StrOpt(
        "fair_share",
        default="none",
        choices=[
            (
                "none",
                "The place is the submission, the release of a job that was held, or the time when "
                "the gates of a job opened that waited for a time or for other jobs.",
            ),
            ("project", "By what the project has used."),
            ("user", "By what the user has used, in each project on its own."),
        ],
        help="""
Whose recent use of the pool puts a job back in the queue.

A job's place is its submission plus an offset, which is fixed when the job becomes eligible, that
is, when it is submitted or released, or when its gates open (--begin, --after):
fair_share_longest_offset * (1 - 2 ** -(use / due)). The use is the mean of the slots that its owner
has held lately, by fair_share_half_life and fair_share_background_weight; due is the number of the
pool's slots divided by the number of owners that have used it lately. The policies sdf, sbf and
smjf order by something else than places and hardly change.

Example: project
""",
    ),
    FloatOpt(
        "fair_share_half_life",
        default=fair_share.HALF_LIFE,
        min=1,
        help="""
Seconds after which use counts half for fair_share. Use of ten half-lives ago is forgotten, and so
is what ``twotier-manage db purge`` has deleted.

Example: 86400
""",
    ),
    FloatOpt(
        "fair_share_background_weight",
        default=fair_share.BACKGROUND_WEIGHT,
        min=0,
        max=1,
        help="What a second on a background slot counts for fair_share, where one on a foreground "
        "slot counts 1.",
    ),
    FloatOpt(
        "fair_share_longest_offset",
        default=fair_share.LONGEST_OFFSET,
        min=0,
        help="""
Seconds by which fair_share puts a job back at most. So no job is passed, because of fair_share, by
jobs that become eligible so much later.

Example: 43200
""",
    ),
    *(
        cfg.IntOpt(
            name,
            mutable=True,
            default=-1,
            min=-1,
            help=f"""
Most {_TIERS[tier]} slots of a pool that the jobs of one {owner} may hold at the same time; -1: no
limit.

A job that would exceed it is not started in the {_TIERS[tier]}. Jobs that the limits would never
let start are refused when they are submitted. API and queue managers need the same value.

Example: 64
""",
        )
        for name, (owner, tier) in SLOT_LIMITS.items()
    ),
    cfg.BoolOpt(
        "qos_classes",
        mutable=True,
        default=False,
        help="""
Whether jobs may be urgent or scavengers; otherwise all that are submitted are normal.

Urgent jobs are ahead of all others in the queue, and preempt them as earlier jobs do; who may have
them, the API's policy twotier:jobs:qos:urgent says. Scavengers are behind all others, run in the
background only, and are preempted as soon as another job could start there without them: they
starve while others want the background. Policies with one tier have no background, so that
scavengers are refused.

The API needs it, the queue manager does not: jobs that have a class keep it when this is switched
off.
""",
    ),
    FloatOpt(
        "threshold",
        mutable=True,
        default=THRESHOLD,
        min=0,
        max=1,
        help="CPU utilisation (0 to 1) of a foreground VM at and above which its slot takes no "
        "background VM. Without it, that of ``model`` counts, if it has one.",
    ),
    cfg.StrOpt(
        "model",
        help="""
The model file that ``twotier-calibrate`` has written on a host of the pools. Its threshold counts
unless ``threshold`` is set; nothing else in it is used. It is read at the start, not when
the configuration is reloaded.

Example: /etc/nova-twotier/model.json
""",
    ),
    FloatOpt(
        "poll_interval",
        mutable=True,
        default=1.0,
        min=0.05,
        max=60.0,
        help="""
Seconds between two polls of Nova, Placement and the queue. When they answer slowly, the pause after
a poll becomes ten times as long as the poll took more than 0.3 s, up to 10 s; if there is news
before, it becomes as long as the poll took. More than a minute would look like a manager that
hangs: one that has finished no poll for two minutes is reported.
""",
    ),
    FloatOpt(
        "watch_interval",
        mutable=True,
        default=0.2,
        min=0.02,
        help="""
Seconds between two checks of the database between polls. A new job or a requested action starts the
next poll at once, and so does a notification from Nova, unless polls are slow: see
``poll_interval``.
""",
    ),
    FloatOpt(
        "host_interval",
        default=10.0,
        min=0.05,
        help="Seconds between two polls of the host aggregates and compute services.",
    ),
    FloatOpt(
        "prediction_interval",
        mutable=True,
        default=60.0,
        min=0,
        help="""
Seconds between two predictions of when the pool's jobs start and end. After a decision of the
policy they are made anew sooner, but at most every 5 s, and so that they take a tenth of the time.
0: no predictions.

They are made by a process of their own with a low CPU priority, so they do not slow down polls.
""",
    ),
    cfg.StrOpt(
        "estimator",
        default="sdpn",
        choices=[(name, each.summary) for name, each in sorted(prediction.ESTIMATORS.items())],
        help="""
How starts and ends of jobs are predicted. With another one than before, or under another policy, it
begins anew to learn how far its predictions are off.

sdpn had the least or an equally small median error in the measurements of
doc/simulator/predictions.md, under easy and amcbf.

Example: hybrid-li
""",
    ),
    FloatOpt(
        "diagnostics_interval",
        default=0.0,
        min=0,
        help="""
Seconds between two samples of the CPU time of each server in the foreground, by Nova's server
diagnostics. 0: no samples.

Set it where some hosts have no node agent, which measures more often and costs Nova nothing. This
costs one request to Nova, and one from there to the host, for each sample. Hosts that an agent
measures are left to it; the first samples of others are taken 3 minutes after the manager's start
or the end of their agent, when it is clear that there is none. The utilisation is averaged over
three intervals; a slot closes after 3 samples in a row of ``threshold`` or more, and opens after 10
below 0.9. Nova's libvirt driver shows CPU times, others may not.

Example: 30
""",
    ),
    FloatOpt(
        "boot_grace",
        mutable=True,
        default=90.0,
        min=0,
        help="""
Seconds within which the servers of a boot request appear in Nova's server list. Give more than the
option ``timeout`` of [nova].

The manager waits this long before it repeats a request that was not answered, or whose answer it
did not see because it was restarted: Nova may be at work on it. Each time that more of the servers
appear, it waits as long again. If Nova carries both out after all,
the servers of the later one are deleted.

Example: 120
""",
    ),
    cfg.IntOpt(
        "attempts",
        mutable=True,
        default=3,
        min=1,
        help="How often the manager tries an operation on a server, or the start of a job.",
    ),
    FloatOpt(
        "operation_timeout",
        mutable=True,
        default=900.0,
        min=1,
        help="""
Seconds after which the manager gives up an operation, such as the start of a job.

It undoes a start and tries again. For preemptions and moves see preemption_timeout.

Give more than the longest boot takes.

Example: 1800
""",
    ),
    FloatOpt(
        "preemption_timeout",
        mutable=True,
        default=600.0,
        min=1,
        help="""
Seconds that Nova may take to save the state of a job that is preempted, or to migrate its servers.

After that the manager deletes the servers, and the job begins anew. A guest that ignores ACPI or
keeps changing its memory, or an owner who makes image after image, would otherwise keep its slots.
The manager forces a live migration to complete after half of the time. A job with ``checkpoint``
has twice as long.

Give more than the longest upload of an image when a server is shelved.

Example: 300
""",
    ),
    FloatOpt(
        "longest_shutdown",
        mutable=True,
        default=120.0,
        min=0,
        help="""
Longest ``os_shutdown_timeout`` (seconds) that the image of a job may have.

Nova waits that long for a guest to shut down when it shelves the server, and tenants can set the
property on their images. A job whose image has a larger value fails with that reason.

Give less than preemption_timeout.

Example: 60
""",
    ),
    cfg.IntOpt(
        "retries",
        default=3,
        min=0,
        help="""
How often a job begins anew after its servers or their host broke, if the job itself does not say.
After that it fails.
""",
    ),
    FloatOpt(
        "host_down_grace",
        mutable=True,
        default=60.0,
        min=0,
        help="""
Seconds that a nova-compute may be down before the jobs on its host begin anew.

The period begins when the manager sees the service down, which Nova reports only after its own
service_down_time. Give more than Nova's report_interval: hosts that go down together are seen to
do so one after the other.
""",
    ),
    FloatOpt(
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
    FloatOpt(
        "outage_window",
        mutable=True,
        default=120.0,
        min=0,
        help="Hosts count as going down together if their last heartbeats lie within this many "
        "seconds before or after the last heartbeat of one of them.",
    ),
    FloatOpt(
        "dead_host_interval",
        mutable=True,
        default=10.0,
        min=0,
        help="Seconds between two hosts that are taken for dead.",
    ),
    cfg.StrOpt(
        "fence_command",
        mutable=True,
        secret=True,
        default="",
        help="""
Command that fences a dead host: it makes sure that no guest runs there any more, for example by
cutting the host's power. It runs without a shell, gets the name of the hypervisor as its last
argument, and must exit with 0 before the jobs of the host begin anew. Without it they begin anew
after host_down_grace, and their old guests may still run beside the new ones for a while.

Example: /usr/local/bin/fence-host --reason nova-twotier
""",
    ),
    FloatOpt(
        "fence_timeout",
        mutable=True,
        default=60.0,
        min=1,
        help="Seconds that fence_command may take. It is run again a minute after it failed.",
    ),
    FloatOpt(
        "preemption_grace",
        mutable=True,
        default=0.0,
        min=0,
        help="""
Seconds between the notice to the guests of a job that is about to be shelved (server metadata
``twotier_notice``) and their shutdown by ACPI, which takes up to Nova's own shutdown_timeout.
Guests of a job with ``checkpoint`` that report earlier that they have saved are shut down then.
0: no notice. A guest may read the notice 20 s late.

Example: 120
""",
    ),
    cfg.BoolOpt(
        "migrate_preempted",
        mutable=True,
        default=True,
        help="""
Whether a job that is preempted, and for which idle background slots on other hosts are found at
once, is live-migrated there: it keeps its memory and continues. Otherwise it is preempted as it
asked for when it was submitted. So it is if Nova does not migrate a server, but shelved instead of
suspended, since it is to start on other hosts.

Set it to false if the pool's hosts cannot live-migrate servers to each other.
""",
    ),
    cfg.BoolOpt(
        "preempt_servers",
        mutable=True,
        default=False,
        help="""
Whether stand-alone servers in the background make way for jobs that would start without them.

Only servers whose flavor had the extra spec ``twotier:preemptible`` when they were created make
way: they are shelved or deleted, as its value says, the newest first, and no more of them than jobs
need. With preemption_grace their guests get a notice first.
""",
    ),
    FloatOpt(
        "walltime_warning",
        mutable=True,
        default=60.0,
        min=0,
        help="Seconds before the end of its walltime at which a job and its guests are warned.",
    ),
    cfg.BoolOpt(
        "drain_by_estimate",
        mutable=True,
        default=False,
        help="""
Whether jobs without a walltime are started only where they end, by their estimate, before a planned
drain of a host begins. A walltime always counts; without either, a job may run into the drain.
""",
    ),
    FloatOpt(
        "min_run_time",
        mutable=True,
        default=0.0,
        min=0,
        help="""
Seconds that a job runs after each start before the manager may preempt or move it.

An earlier job that needs its slots waits that long, and keeps the idle
foreground slots meanwhile.

Example: 300
""",
    ),
    FloatOpt(
        "swap_hysteresis",
        mutable=True,
        default=0.0,
        min=0,
        help="""
Seconds after a change of its tier during which a job keeps its tier and is not preempted.

Example: 60
""",
    ),
    cfg.IntOpt(
        "max_concurrent_boots",
        mutable=True,
        default=100,
        min=0,
        help="""
Most servers of jobs, in each pool, that Nova boots or brings back at the same time; 0: any number.

Nova boots fewer servers a second if it is asked for too many at once. Jobs that would start on idle
slots wait in the queue meanwhile, in the order in which the policy starts them. A job with more
processes than this starts when no other servers boot. Servers for which others were preempted are
never held back, and those of starts that have taken longer than ``boot_grace`` do not count.

Example: 32
""",
    ),
    cfg.IntOpt(
        "largest_server_group",
        mutable=True,
        default=64,
        min=-1,
        help="""
Size of the largest jobs whose servers are put into a server group of Nova; -1: all jobs, 0: none.

For each server of a group that Nova boots, it reads all other members again, so that large groups
boot slowly. The servers of larger jobs have only the property ``twotier_job`` in common, and so do
those of jobs for which the quotas ``server_groups`` and ``server_group_members`` leave no room. For
servers in no group, ``[scheduler]max_placement_results`` limits the hosts that Nova considers.

Example: 256
""",
    ),
    cfg.IntOpt(
        "concurrency",
        default=8,
        min=1,
        help="Most requests to Nova at the same time. Questions to hosts, such as for consoles, "
        "have as many threads of their own.",
    ),
    cfg.ListOpt(
        "pools",
        default=["default"],
        item_type=types.String(regex=rf"\A{POOL}\Z"),
        help="""
Pools of hosts that a queue manager serves, or that the API takes jobs for. A host is in the pool
that the metadata twotier:pool of its aggregate names, or in "default".

Example: default,gpu
""",
    ),
    *metrics.opts("the metrics of this queue manager"),
    cfg.StrOpt(
        "flavor",
        help="Name of the flavor of jobs that name none. It has resources:CUSTOM_TWOTIER_SLOT=1.",
    ),
    cfg.StrOpt("image", help="Uuid, not name, of the image of jobs that name none."),
    cfg.StrOpt(
        "network",
        default="none",
        help="""
Network of the servers: ``none``, ``auto``, or the uuid (not the name) of a network.

Example: auto
""",
    ),
]


def register_opts(conf):
    conf.register_opts(DEFAULT_OPTS)
    # A copy of its own, or the threshold of one configuration's model would be in all of them.
    conf.register_group(cfg.OptGroup(GROUP.name, GROUP.title))
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    return [(DEFAULT, DEFAULT_OPTS), (GROUP, OPTS)]
