"""`openstack twotier queue show|set|pause|resume`."""

from osc_lib.command import command

from nova_twotier.client import columns

MODES = ("active", "paused", "draining")


class ShowQueue(command.ShowOne):
    """Show the queue: its policy, and how many jobs wait and run"""

    def get_parser(self, prog_name):
        parser = with_pool(super().get_parser(prog_name))
        parser.add_argument(
            "--all-projects",
            action="store_true",
            default=None,
            help="count the jobs of all projects; for administrators",
        )
        return parser

    def take_action(self, parsed_args):
        queue = self.app.client_manager.twotier.queue(
            pool=parsed_args.pool, all_projects=parsed_args.all_projects
        )
        policy, limits = queue.pop("policy"), queue.pop("limits")
        queue |= {"policy": policy["name"], "description": policy["description"]}
        if limits:
            queue["job_size_limit"] = limits["job_size"]
            for name in ("jobs", "processes"):
                queue[f"{name}_used"] = limits[name]["used"]
                queue[f"{name}_limit"] = limits[name]["allowed"]
            for name, most in limits.get("slots", {}).items():
                if most >= 0:
                    queue[f"{name}_limit"] = most
        return columns.one(queue)


class ChangeQueue(command.ShowOne):
    """Changes the queue's mode; for managers."""

    mode = ""

    def get_parser(self, prog_name):
        return with_pool(super().get_parser(prog_name))

    def take_action(self, parsed_args):
        change = {"mode": self.mode or parsed_args.mode}
        api = self.app.client_manager.twotier
        return columns.one(api.change_queue(change, pool=parsed_args.pool))


class SetQueue(ChangeQueue):
    """Change the queue; for managers"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--mode",
            choices=MODES,
            required=True,
            help="paused: no job starts or is preempted, running jobs continue; draining: no new "
            "job is accepted, the others are served as usual",
        )
        return parser


class PauseQueue(ChangeQueue):
    """Pause the queue: no job starts or is preempted, running jobs continue; for managers"""

    mode = "paused"


class ResumeQueue(ChangeQueue):
    """Resume the queue: jobs start again, and new ones are accepted; for managers"""

    mode = "active"


def with_pool(parser):
    parser.add_argument("--pool", metavar="<pool>", help="pool of hosts (default: the default one)")
    return parser
