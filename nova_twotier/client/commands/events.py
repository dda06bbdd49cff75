"""`openstack twotier event list`."""

import sys
from collections.abc import Iterator

from osc_lib.exceptions import CommandError

from nova_twotier.client import arguments, arrays, columns, tables
from nova_twotier.client.following import Follower
from nova_twotier.client.rest import Api
from nova_twotier.client.streams import JsonLines, Lines

#: The formats that print rows as they come; None: cliff's own formatter does.
STREAMS = {"table": Lines(), "json": JsonLines(), "value": None, "csv": None}


class ListEvents(tables.Lister):
    """List what happened to jobs, oldest first"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--job",
            metavar="<job>",
            help=f"only of one job: {arguments.JOB}, or the number of an array",
        )
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
            "--follow",
            action="store_true",
            help="print new events as they come, each in a line, until you press Ctrl-C; with "
            "--since or --limit, earlier ones first. For programs: -f value, csv, or json, which "
            "prints an object in each line",
        )
        arguments.add_all_projects(parser)
        return parser

    def take_action(self, parsed_args):
        api = self.app.client_manager.twotier
        filters = {
            **(arrays.reference(api, parsed_args.job) if parsed_args.job is not None else {}),
            "all_projects": parsed_args.all_projects,
        }
        shown = dict(columns.EVENT)
        if not parsed_args.all_projects:
            del shown["Project"]
        if parsed_args.follow:
            self._stream(parsed_args)
            if tables.for_people(parsed_args):
                del shown["Job"]  # a uuid in each line would leave too little room for the others
            events = self._followed(api, parsed_args, filters)
        else:
            events = _listed(api, parsed_args, filters)
        return tuple(shown), (columns.row(shown, event) for event in events)

    def _stream(self, parsed_args) -> None:
        """Choose a formatter that does not wait for the last row.

        :raises CommandError: if the options want one that has to.
        """
        if parsed_args.sort_columns:
            raise CommandError("--follow prints events as they come: leave out --sort-column")
        if parsed_args.formatter not in STREAMS:
            raise CommandError(
                f"--follow prints a line for each event, which -f {parsed_args.formatter} cannot: "
                "leave out -f, or give -f value, csv or json"
            )
        self.formatter = STREAMS[parsed_args.formatter] or self.formatter

    def _followed(self, api: Api, parsed_args, filters: dict) -> Iterator[dict]:
        """The events that were asked for, and new ones for ever."""
        follower = Follower(api, parsed_args.since, self._say, **filters)
        only_new = parsed_args.limit is None and parsed_args.since is None
        yield from follower.existing(0 if only_new else parsed_args.limit)
        # Whoever reads a file or a pipe sees each event at once.
        self.app.stdout.flush()
        for event in follower.new():
            yield event
            self.app.stdout.flush()

    def _say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def _listed(api: Api, parsed_args, filters: dict) -> list[dict]:
    # A limit leaves out the oldest.
    direction = "desc" if parsed_args.limit else None
    found = api.events(
        limit=parsed_args.limit, sort_dir=direction, since=parsed_args.since, **filters
    )
    return list(found)[::-1] if parsed_args.limit else list(found)
