"""`openstack twotier queue show|set|pause|resume`."""

import sys

from osc_lib.exceptions import CommandError

from nova_twotier.client import arguments, columns, tables

MODES = ("active", "paused", "draining")

#: The fields of a queue that people look for first.
FIRST = ("pool", "mode", "manager", "jobs", "processes", "policy")


class ShowQueue(tables.ShowOne):
    """Show the queue: its policy, and how many jobs wait and run"""

    print_empty_fields = False

    def get_parser(self, prog_name):
        parser = with_pool(super().get_parser(prog_name))
        arguments.add_all_projects(parser, "count the jobs of all projects")
        return parser

    def take_action(self, parsed_args):
        queue = self.app.client_manager.twotier.queue(
            pool=parsed_args.pool, all_projects=parsed_args.all_projects
        )
        limits = queue.pop("limits")
        by_class = queue.pop("jobs_by_qos", {})
        project = queue.pop("project_id")
        first = {name: queue.pop(name) for name in FIRST if name in queue}
        queue = first | with_policy(first) | queue
        queue |= {f"{which}_by_qos": jobs for which, jobs in by_class.items()}
        if limits:
            queue["job_size_limit"] = limits["job_size"]
            for name in ("jobs", "processes"):
                queue[f"{name}_used"] = limits[name]["used"]
                queue[f"{name}_limit"] = limits[name]["allowed"]
            for name, most in limits.get("slots", {}).items():
                if most >= 0:
                    queue[f"{name}_limit"] = most
        return columns.one({**queue, "project_id": project})


class ChangeQueue(tables.ShowOne):
    """Changes the queue's mode or its policy; for administrators."""

    mode = ""

    def get_parser(self, prog_name):
        return with_pool(super().get_parser(prog_name))

    def take_action(self, parsed_args):
        api, change = self.app.client_manager.twotier, self.change(parsed_args)
        changed = api.change_queue(change, pool=parsed_args.pool)
        policy = with_policy(changed) if "policy" in change else {}
        wanted = policy.get("policy_set_to") or policy.get("policy_configured")
        if wanted and wanted != policy["policy"]:
            print(
                f"{policy['policy']} is in use until the queue manager's next poll, "
                f"then {wanted}: see queue show",
                file=sys.stderr,
            )
        return columns.one({"pool": changed["pool"], "mode": changed["mode"], **policy})

    def change(self, parsed_args) -> dict:
        return {"mode": self.mode}


class SetQueue(ChangeQueue):
    """Change the queue; for administrators"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--mode",
            choices=MODES,
            help="paused: no job starts or is preempted, running jobs continue; draining: no new "
            "job is accepted, the others are served as usual",
        )
        parser.add_argument(
            "--policy",
            metavar="<policy>",
            help="scheduling policy, also after restarts of the queue manager; default: the one "
            "that is configured. Running jobs stay where they are until the new policy moves them",
        )
        return parser

    def change(self, parsed_args) -> dict:
        asked = {"mode": parsed_args.mode, "policy": parsed_args.policy}
        change = {name: value for name, value in asked.items() if value is not None}
        if not change:
            raise CommandError("say what to change: --mode, --policy or both")
        return change


class PauseQueue(ChangeQueue):
    """Pause the queue: no job starts or is preempted, running jobs continue; for administrators"""

    mode = "paused"


class ResumeQueue(ChangeQueue):
    """Resume the queue: jobs start again, and new ones are accepted; for administrators"""

    mode = "active"


def with_policy(queue: dict) -> dict:
    """The fields about the policy of a queue or a pool; an API of an earlier release has fewer."""
    policy = queue.get("policy")
    if policy is None:
        return {}
    fields = {"policy": policy["name"], "description": policy["description"]}
    if "configured" in policy:
        fields["policy_configured"] = policy["configured"]
        fields["policy_set_to"] = policy["set_to"]
    return fields


def with_pool(parser):
    parser.add_argument("--pool", metavar="<pool>", help="pool of hosts (default: the default one)")
    return parser
