"""`openstack twotier job wait`."""

import sys

from nova_twotier.client import arrays, columns, progress, tables
from nova_twotier.client.rest import ApiError

SHOWN = {
    "Number": "number",
    "UUID": "uuid",
    "Name": "name",
    "State": "state",
    "Exit Status": "exit_status",
    "Reason": "reason",
}


class WaitForJob(tables.Lister):
    """Wait until jobs have finished; the exit code is 1 if one failed or was cancelled"""

    # Each job that there is not is an error of its own.
    print_no_rows = False

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("jobs", metavar="<job>", nargs="+", help=arrays.JOB_OR_WHOLE_ARRAY)
        parser.add_argument(
            "--until",
            choices=(progress.STARTED, progress.FINISHED),
            default=progress.FINISHED,
            help="what to wait for (default: finished)",
        )
        return parser

    def take_action(self, parsed_args):
        self.failed = 0
        api = self.app.client_manager.twotier
        rows = []
        for word in dict.fromkeys(parsed_args.jobs):
            try:
                found = arrays.find(api, word)
                if found.indexes:
                    self._fail(f"{word}: {arrays.WHOLE_OR_ONE}")
                    continue
                if found.array:
                    job = arrays.follow(api, found.array, parsed_args.until)
                    failure = arrays.failure(job)
                elif found.job:
                    job = progress.follow(api, found.job, parsed_args.until, sys.stderr)
                    failure = progress.failure(job)
            except ApiError as error:
                self._fail(f"{word}: {error}")
                continue
            if failure:
                self._fail(failure)
            rows.append(columns.row(SHOWN, job))
        return tuple(SHOWN), rows

    def _fail(self, text: str) -> None:
        self.failed += 1
        self.log.error("%s", text)

    def run(self, parsed_args):
        super().run(parsed_args)
        return 1 if self.failed else 0
