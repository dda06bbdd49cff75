"""`openstack twotier job list|show|explain`."""

from nova_twotier.client import addresses, arguments, columns, filters, tables


class ListJobs(tables.Lister):
    """List jobs that are not over, newest first"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        more = parser.add_mutually_exclusive_group()
        more.add_argument("--all", action="store_true", help="also jobs that are over")
        more.add_argument(
            "--since",
            type=arguments.moment,
            metavar="<time>",
            help="also jobs that ended at this time or later: a time with its zone, such as "
            "2026-01-31T12:00:00Z, or how long ago, such as 12h or 2d",
        )
        filters.add(parser, filters.STATES)
        parser.add_argument(
            "--limit",
            type=arguments.whole,
            metavar="<n>",
            help="at most so many, the newest (default: all)",
        )
        arguments.add_all_projects(parser)
        parser.add_argument(
            "--long", action="store_true", help="with how they started and what happened since"
        )
        return parser

    def take_action(self, parsed_args):
        # Who names states means them, also final ones.
        everything = parsed_args.all or parsed_args.since or parsed_args.states
        clients = self.app.client_manager
        found = clients.twotier.jobs(
            limit=parsed_args.limit,
            sort_dir="desc",
            active=None if everything else True,
            since=parsed_args.since,
            all_projects=parsed_args.all_projects,
            **filters.chosen(clients, parsed_args),
        )
        shown = dict(columns.JOB)
        if parsed_args.all_projects:
            shown["Project"] = "project_id"
        if parsed_args.long:
            shown |= columns.JOB_LONG
        return tuple(shown), [columns.row(shown, job) for job in found]


class ShowJob(tables.ShowOne):
    """Show a job: its servers, their tiers and addresses, how long it ran, how it ended"""

    def get_parser(self, prog_name):
        return with_job(super().get_parser(prog_name))

    def take_action(self, parsed_args):
        clients = self.app.client_manager
        job = clients.twotier.find(parsed_args.job)
        wanted = [word.strip().lower() for word in parsed_args.columns]
        if not wanted or "servers" in wanted:
            complaint = addresses.add(clients, job)
            if complaint:
                self.log.warning("%s", complaint)
        return columns.one(job)


class ExplainJob(tables.ShowOne):
    """Explain why a job waits, its position in the queue, and what happened to it"""

    def get_parser(self, prog_name):
        return with_job(super().get_parser(prog_name))

    def take_action(self, parsed_args):
        api = self.app.client_manager.twotier
        return columns.one(api.explain(api.find(parsed_args.job)["uuid"]))


def with_job(parser):
    parser.add_argument("job", metavar="<job>", help=arguments.JOB)
    return parser
