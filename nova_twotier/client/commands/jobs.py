"""`openstack twotier job list|show|explain`."""

import sys

from osc_lib.exceptions import CommandError

from nova_twotier.client import addresses, arguments, arrays, columns, filters, names, tables
from nova_twotier.client.rest import Api, ApiError


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
            "-r",
            "--array",
            action="store_true",
            help="each task of an array in a line (default: those that wait in one line)",
        )
        parser.add_argument(
            "--long", action="store_true", help="with how they started and what happened since"
        )
        return parser

    def take_action(self, parsed_args):
        # Who names states means them, also final ones.
        everything = parsed_args.all or parsed_args.since or parsed_args.states
        clients = self.app.client_manager
        query = dict(
            limit=parsed_args.limit,
            sort_dir="desc",
            active=None if everything else True,
            since=parsed_args.since,
            all_projects=parsed_args.all_projects,
            **filters.chosen(clients, parsed_args),
        )
        found = _jobs(clients.twotier, query, collapsed=not parsed_args.array)
        if not found:
            names.check_pool(clients.twotier, parsed_args.pool)
        shown = dict(columns.JOB)
        if parsed_args.all_projects:
            shown["Project"] = "project_id"
        if parsed_args.long:
            shown |= columns.JOB_LONG
            if not tables.for_people(parsed_args):
                shown |= columns.JOB_INTERVALS
            found = list(map(columns.with_expectations, found))
        return tuple(shown), [columns.row(shown, job) for job in found]


def _jobs(api: Api, query: dict, collapsed: bool) -> list[dict]:
    if collapsed:
        try:
            return list(api.jobs(**query, collapsed=True))
        except ApiError as error:
            if error.status != 400 or "collapsed" not in str(error):
                raise
    # An API of an earlier release has no arrays.
    return list(api.jobs(**query))


class ShowJob(tables.ShowOne):
    """Show a job: its servers, their tiers and addresses, how long it ran, how it ended; or the
    tasks of an array by state"""

    def get_parser(self, prog_name):
        return with_job(super().get_parser(prog_name))

    def take_action(self, parsed_args):
        clients = self.app.client_manager
        found = arrays.find(clients.twotier, parsed_args.job)
        if found.array:
            if found.indexes:
                raise CommandError("show a whole array, as 12, or one of its tasks, as 12_3")
            return columns.one(found.array)
        job = found.job
        wanted = [word.strip().lower() for word in parsed_args.columns]
        if not wanted or "servers" in wanted:
            complaint = addresses.add(clients, job)
            if complaint:
                self.log.warning("%s", complaint)
        return columns.one(columns.with_expectations(job))


class ExplainJob(tables.ShowOne):
    """Explain why a job waits, when it is expected to start, and what happened to it"""

    def get_parser(self, prog_name):
        return with_job(super().get_parser(prog_name))

    def take_action(self, parsed_args):
        api = self.app.client_manager.twotier
        found = arrays.find_whole(api, parsed_args.job)
        job = found.job or self._waiting(api, found.array)
        return columns.one(columns.with_expectations(api.explain(job["uuid"])))

    def _waiting(self, api: Api, array: dict) -> dict:
        """The first task of an array that waits, which stands for the others."""
        number = array["number"]
        tasks = api.jobs(array=number, state=["queued"], collapsed=True, limit=1)
        if (task := next(tasks, None)) is None:
            raise CommandError(
                f"no task of {arrays.label(array)} waits ({arrays.counts(array)}): name one, such "
                f"as {number}_{array['indexes'].partition(',')[0].partition('-')[0]}"
            )
        first = f"{number}_{task['array']['index']}"
        print(f"Of {arrays.label(array)}, task {first} is the first that waits.", file=sys.stderr)
        return task


def with_job(parser):
    parser.add_argument("job", metavar="<job>", help=f"{arguments.JOB}; 12_3 is a task of array 12")
    return parser
