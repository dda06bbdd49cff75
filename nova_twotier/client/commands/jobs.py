"""`openstack twotier job list|show|explain`."""

from osc_lib.command import command

from nova_twotier.client import arguments, columns
from nova_twotier.client.rest import OVER

STATES = ("queued", "starting", "restoring", "running", "preempting", "ending", *OVER)


class ListJobs(command.Lister):
    """List jobs, in the order of their submission"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("--state", choices=STATES, help="only jobs in this state")
        parser.add_argument("--name", metavar="<name>", help="only jobs of exactly this name")
        parser.add_argument("--pool", metavar="<pool>", help="only jobs of this pool of hosts")
        parser.add_argument(
            "--limit", type=int, metavar="<n>", help="at most so many (default: all)"
        )
        parser.add_argument(
            "--all-projects",
            action="store_true",
            default=None,
            help="of all projects; for administrators",
        )
        parser.add_argument(
            "--long", action="store_true", help="with how they started and what happened since"
        )
        return parser

    def take_action(self, parsed_args):
        found = self.app.client_manager.twotier.jobs(
            limit=parsed_args.limit,
            state=parsed_args.state,
            name=parsed_args.name,
            pool=parsed_args.pool,
            all_projects=parsed_args.all_projects,
        )
        shown = dict(columns.JOB)
        if parsed_args.all_projects:
            shown["Project"] = "project_id"
        if parsed_args.long:
            shown |= columns.JOB_LONG
        return tuple(shown), [columns.row(shown, job) for job in found]


class ShowJob(command.ShowOne):
    """Show a job"""

    def get_parser(self, prog_name):
        return with_job(super().get_parser(prog_name))

    def take_action(self, parsed_args):
        return columns.one(self.app.client_manager.twotier.find(parsed_args.job))


class ExplainJob(command.ShowOne):
    """Explain why a job waits, its position in the queue, and what happened to it"""

    def get_parser(self, prog_name):
        return with_job(super().get_parser(prog_name))

    def take_action(self, parsed_args):
        api = self.app.client_manager.twotier
        return columns.one(api.explain(api.find(parsed_args.job)["uuid"]))


def with_job(parser):
    parser.add_argument("job", metavar="<job>", help=arguments.JOB)
    return parser
