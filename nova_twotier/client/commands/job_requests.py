"""`openstack twotier job complete|hold|release|requeue`, for several jobs at once."""

import functools

from nova_twotier.client import arrays, columns, tables
from nova_twotier.client.rest import ApiError

SHOWN = {
    "Number": "number",
    "UUID": "uuid",
    "Name": "name",
    "State": "state",
    "Held": "held",
    "Asked To": "asked_to",
}


class JobRequest(tables.Lister):
    """Makes the same request for each job; continues with the others if one is refused."""

    verb = ""
    # Each refusal is an error of its own.
    print_no_rows = False

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("jobs", metavar="<job>", nargs="+", help=arrays.JOB_OR_ARRAY)
        return parser

    def take_action(self, parsed_args):
        self.refused = 0
        api = self.app.client_manager.twotier
        rows = []
        for name in dict.fromkeys(parsed_args.jobs):
            try:
                found = arrays.find(api, name)
                if found.array:
                    refuse = functools.partial(self._refuse, name)
                    asked = arrays.ask(api, found.array, found.indexes, self.verb, refuse)
                elif found.job:
                    asked = [getattr(api, self.verb)(found.job["uuid"])]
            except ApiError as error:
                self._refuse(name, error)
            else:
                rows += [columns.row(SHOWN, job) for job in asked]
        return tuple(SHOWN), rows

    def _refuse(self, name: str, why: object) -> None:
        self.refused += 1
        self.log.error("%s: %s", name, why)

    def run(self, parsed_args):
        super().run(parsed_args)
        return 1 if self.refused else 0


class CompleteJob(JobRequest):
    """End jobs that have started as finished; cancel those that have not"""

    verb = "complete"


class HoldJob(JobRequest):
    """Keep jobs from starting, or from starting again after a preemption, until released"""

    verb = "hold"


class ReleaseJob(JobRequest):
    """Let held jobs start"""

    verb = "release"


class RequeueJob(JobRequest):
    """Have jobs that have started begin anew: their servers are deleted, they wait in the queue"""

    verb = "requeue"
