"""The oslo.policy rules, with OpenStack's personas.

A reader sees the jobs of the token's project; a member also submits and controls them; a project's
manager can do no more. An admin can do everything in every project. A system reader and a service
see everything and change nothing. Only these three see the names of hosts, as in Nova, and the
network; to the others hosts have ids, and jobs of other projects are anonymous.
"""

from oslo_config import cfg
from oslo_policy import opts, policy

from nova_twotier.api.enforcer import Enforcer
from nova_twotier.conf import ConfigError

ADMIN = "rule:twotier:admin"
SEES_ALL = "rule:twotier:sees_all"
READS = f"{SEES_ALL} or rule:twotier:project_reader"
#: The role of those who may have urgent jobs in their project.
URGENT_ROLE = "twotier_urgent"
CHANGES = f"{ADMIN} or rule:twotier:project_member"

BASE = [
    policy.RuleDefault("twotier:admin", "role:admin", "Administrators, in every project."),
    policy.RuleDefault(
        "twotier:sees_all",
        f"{ADMIN} or role:service or (role:reader and system_scope:all)",
        "Those who see all projects: administrators, services, and readers of the system.",
    ),
    policy.RuleDefault(
        "twotier:project_reader",
        "role:reader and project_id:%(project_id)s",
        "Readers of the job's project; members and managers are readers too.",
    ),
    policy.RuleDefault(
        "twotier:project_member",
        "role:member and project_id:%(project_id)s",
        "Members of the job's project; managers are members too.",
    ),
]


def _rule(name, check, description, method, path, scopes=("system", "project")):
    return policy.DocumentedRuleDefault(
        f"twotier:{name}",
        check,
        description,
        [{"method": method, "path": path}],
        scope_types=list(scopes),
    )


JOB = "/v1/jobs/{uuid}"
ARRAY = "/v1/arrays/{array}"

RULES = [
    _rule(
        "jobs:create",
        "rule:twotier:project_member",
        "Submit a job in the token's own project.",
        "POST",
        "/v1/jobs",
        scopes=("project",),
    ),
    _rule("jobs:list", READS, "List a project's jobs.", "GET", "/v1/jobs"),
    _rule(
        "jobs:list:all_projects",
        SEES_ALL,
        "List the jobs of all projects.",
        "GET",
        "/v1/jobs?all_projects=true",
    ),
    _rule(
        "jobs:show",
        READS,
        "Show a job. To others, every request answers that there is no such job.",
        "GET",
        JOB,
    ),
    _rule(
        "jobs:show:hosts",
        SEES_ALL,
        "Show the hosts of a job's servers; to others, a job is shown without them.",
        "GET",
        JOB,
    ),
    _rule(
        "jobs:explain",
        READS,
        "Say why a job waits or ended, its position in the queue, and what happened to it.",
        "GET",
        f"{JOB}/explain",
    ),
    _rule("jobs:cancel", CHANGES, "Cancel a job.", "DELETE", JOB),
    _rule(
        "jobs:cancel_many",
        CHANGES,
        "Cancel many jobs of the token's project in one request; for each of them "
        "`twotier:jobs:cancel` must allow it, too.",
        "POST",
        "/v1/jobs/cancel",
    ),
    _rule(
        "jobs:cancel_many:all_projects",
        ADMIN,
        "Cancel many jobs of all projects in one request.",
        "POST",
        "/v1/jobs/cancel?all_projects=true",
    ),
    _rule("jobs:hold", CHANGES, "Keep a job from starting.", "POST", f"{JOB}/hold"),
    _rule("jobs:release", CHANGES, "Let a held job start.", "POST", f"{JOB}/release"),
    _rule(
        "jobs:requeue",
        CHANGES,
        "Have a job that has started begin anew.",
        "POST",
        f"{JOB}/requeue",
    ),
    _rule(
        "jobs:set",
        CHANGES,
        "Change the name, the estimate, the walltime, the priority or the class of a job.",
        "PATCH",
        JOB,
    ),
    _rule(
        "jobs:set:extend",
        ADMIN,
        "Give a job that has slots a longer walltime, although others were planned with the "
        "present one.",
        "PATCH",
        JOB,
    ),
    policy.DocumentedRuleDefault(
        "twotier:jobs:qos:urgent",
        f"{ADMIN} or (role:{URGENT_ROLE} and project_id:%(project_id)s)",
        "Have an urgent job, which is ahead of all others; if the site has classes.",
        [
            {"method": method, "path": path}
            for method, path in (
                *(("POST", "/v1/jobs"), ("PATCH", JOB)),
                *(("POST", "/v1/arrays"), ("PATCH", ARRAY)),
            )
        ],
        scope_types=["system", "project"],
    ),
    _rule("jobs:complete", CHANGES, "End a job as finished.", "POST", f"{JOB}/complete"),
    _rule(
        "arrays:create",
        "rule:twotier:project_member",
        "Submit a job array in the token's own project; `twotier:jobs:create` must allow it, too.",
        "POST",
        "/v1/arrays",
        scopes=("project",),
    ),
    _rule(
        "arrays:show",
        READS,
        "Show a job array. To others, every request answers that there is no such array.",
        "GET",
        ARRAY,
    ),
    _rule(
        "arrays:set",
        CHANGES,
        "Change a job array; `twotier:jobs:set` must allow it, too.",
        "PATCH",
        ARRAY,
    ),
    _rule(
        "arrays:ask",
        CHANGES,
        "Cancel, complete, hold, release or requeue tasks of a job array; the rule of that name "
        "for jobs, such as `twotier:jobs:cancel`, must allow it, too.",
        "POST",
        f"{ARRAY}/actions",
    ),
    _rule(
        "queue:show",
        READS,
        "Show the policy, and how many jobs of the project wait and run.",
        "GET",
        "/v1/queue",
    ),
    _rule(
        "queue:show:all_projects",
        SEES_ALL,
        "Show how many jobs of all projects wait and run.",
        "GET",
        "/v1/queue?all_projects=true",
    ),
    _rule(
        "queue:jobs",
        "rule:twotier:jobs:list",
        "List the jobs of the project that wait or run in any order. By default, as the list of "
        "jobs.",
        "GET",
        "/v1/queue/jobs",
    ),
    _rule(
        "queue:jobs:all_projects",
        "rule:twotier:jobs:list:all_projects",
        "The same of all projects.",
        "GET",
        "/v1/queue/jobs?all_projects=true",
    ),
    _rule(
        "queue:update",
        ADMIN,
        "Pause, drain or resume the queue of a pool, or change its policy, for all projects.",
        "PATCH",
        "/v1/queue",
    ),
    _rule(
        "pools:list",
        READS,
        "List the pools of hosts: their queues' policies, their free slots, and how many jobs of "
        "all projects wait and run there. It names no hosts, and no projects.",
        "GET",
        "/v1/pools",
    ),
    _rule(
        "schedule:show",
        READS,
        "Show which slots processes held, and when jobs are predicted to start and end. Of jobs "
        "of other projects it shows the size and the tier alone.",
        "GET",
        "/v1/schedule",
    ),
    _rule(
        "schedule:show:all_projects",
        SEES_ALL,
        "Show which jobs of other projects the schedule is about.",
        "GET",
        "/v1/schedule",
    ),
    _rule(
        "hosts:list",
        READS,
        "List the hosts with the slots and tiers that are in use.",
        "GET",
        "/v1/hosts",
    ),
    _rule(
        "hosts:list:names",
        SEES_ALL,
        "Show the names of hosts, why they are drained and how much CPU processes use there; to "
        "others, a host has an id, here and in the schedule.",
        "GET",
        "/v1/hosts",
    ),
    _rule(
        "hosts:drain",
        ADMIN,
        "Drain a host, now or from some time on: nothing new is placed there.",
        "POST",
        "/v1/hosts/drain",
    ),
    _rule(
        "hosts:undrain",
        ADMIN,
        "End the drain of a host.",
        "POST",
        "/v1/hosts/undrain",
    ),
    _rule(
        "topology:show",
        SEES_ALL,
        "Show the tree of switches and hosts, with the free bandwidth of their links.",
        "GET",
        "/v1/topology",
    ),
    _rule(
        "events:list",
        READS,
        "List what happened to a project's jobs.",
        "GET",
        "/v1/events",
    ),
    _rule(
        "events:list:all_projects",
        SEES_ALL,
        "List what happened to the jobs of all projects.",
        "GET",
        "/v1/events?all_projects=true",
    ),
    _rule(
        "usage:show",
        READS,
        "Show for how long a project's jobs held slots in a period, by tier.",
        "GET",
        "/v1/usage",
    ),
    _rule(
        "usage:show:all_projects",
        SEES_ALL,
        "Show the usage of all projects, or of another one than the token's.",
        "GET",
        "/v1/usage?all_projects=true",
    ),
    _rule(
        "utilisation:show",
        READS,
        "Show how many slots were used in each tier, how many jobs of all projects waited and how "
        "much work was lost, over time. It names no hosts, and no projects.",
        "GET",
        "/v1/utilisation",
    ),
]


def list_rules() -> list[policy.RuleDefault]:
    """All rules, for oslopolicy-sample-generator."""
    return [*BASE, *RULES]


def enforcer(conf: cfg.ConfigOpts) -> Enforcer:
    """The rules with the overrides of the operator's policy file.

    :raises ConfigError: if that file is wrong.
    """
    opts.set_defaults(conf)
    try:
        # Find mistakes in the file now, not at the first request.
        return Enforcer(conf, list_rules())
    except ValueError as error:
        raise ConfigError(f"policy file {conf.oslo_policy.policy_file}: {error}") from error


def get_enforcer() -> Enforcer:
    """The enforcer of the default configuration files, for oslo.policy's own tools."""
    conf = cfg.ConfigOpts()
    conf([], project="nova-twotier")
    return enforcer(conf)
