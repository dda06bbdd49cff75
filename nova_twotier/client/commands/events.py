"""`openstack twotier event list`."""

from osc_lib.command import command

from nova_twotier.client import arguments, columns


class ListEvents(command.Lister):
    """List what happened to jobs, oldest first"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("--job", metavar="<job>", help=f"only of one job: {arguments.JOB}")
        parser.add_argument(
            "--since",
            type=arguments.moment,
            metavar="<time>",
            help="only from this time on: with its zone, such as 2026-01-31T12:00:00Z, or how "
            "long ago, such as 90m or 2d",
        )
        parser.add_argument(
            "--limit",
            type=arguments.whole,
            metavar="<n>",
            help="at most so many, the newest (default: all)",
        )
        parser.add_argument(
            "--all-projects",
            action="store_true",
            default=None,
            help="of all projects; for administrators",
        )
        return parser

    def take_action(self, parsed_args):
        api = self.app.client_manager.twotier
        found = api.events(
            limit=parsed_args.limit,
            # A limit leaves out the oldest.
            sort_dir="desc" if parsed_args.limit else None,
            job=api.find(parsed_args.job)["uuid"] if parsed_args.job else None,
            since=parsed_args.since,
            all_projects=parsed_args.all_projects,
        )
        events = list(found)[::-1] if parsed_args.limit else list(found)
        shown = dict(columns.EVENT)
        if parsed_args.all_projects:
            shown["Project"] = "project_id"
        return tuple(shown), [columns.row(shown, event) for event in events]
