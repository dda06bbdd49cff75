"""`openstack twotier job cancel|complete|hold|release`, of several jobs at once."""

from osc_lib.command import command

from nova_twotier.client import columns
from nova_twotier.client.rest import ApiError

SHOWN = {"UUID": "uuid", "Name": "name", "State": "state", "Held": "held", "Asked To": "asked_to"}


class Wish(command.Lister):
    """Asks the same of each job; one that refuses does not keep it from the others."""

    verb = ""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("jobs", metavar="<job>", nargs="+", help="uuid or name of a job")
        return parser

    def take_action(self, parsed_args):
        self.refused = 0
        api = self.app.client_manager.twotier
        rows = []
        for name in dict.fromkeys(parsed_args.jobs):
            try:
                job = getattr(api, self.verb)(api.find(name)["uuid"])
            except ApiError as error:
                self.refused += 1
                self.log.error("%s: %s", name, error)
            else:
                rows.append(columns.row(SHOWN, job))
        return tuple(SHOWN), rows

    def run(self, parsed_args):
        super().run(parsed_args)
        return 1 if self.refused else 0


class CancelJob(Wish):
    """End jobs, or take them out of the queue"""

    verb = "cancel"


class CompleteJob(Wish):
    """End jobs as finished"""

    verb = "complete"


class HoldJob(Wish):
    """Keep jobs from starting, or from starting again after a preemption, until released"""

    verb = "hold"


class ReleaseJob(Wish):
    """Let held jobs start"""

    verb = "release"
