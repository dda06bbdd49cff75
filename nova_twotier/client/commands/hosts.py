"""`openstack twotier host list|show`, for managers."""

from osc_lib.command import command
from osc_lib.exceptions import CommandError

#: Heading, tier and field of a host.
USE = [
    (f"{short} {field}", tier, field.lower())
    for short, tier in (("FG", "foreground"), ("BG", "background"))
    for field in ("Used", "Places", "CPU")
]
HEADINGS = ("Name", "Slots", "Tiers", "Closed", *(heading for heading, _tier, _field in USE))


def values(host: dict) -> tuple:
    whole = (host[name] for name in ("name", "slots", "tiers", "closed"))
    return (*whole, *(host[tier][field] for _heading, tier, field in USE))


class ListHosts(command.Lister):
    """List hosts with the slots and tiers that are in use; for managers"""

    def take_action(self, parsed_args):
        hosts = self.app.client_manager.twotier.hosts()
        return HEADINGS, [values(host) for host in hosts]


class ShowHost(command.ShowOne):
    """Show the slots and tiers of a host; for managers"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("host", metavar="<host>", help="name of a host")
        return parser

    def take_action(self, parsed_args):
        for host in self.app.client_manager.twotier.hosts():
            if host["name"] == parsed_args.host:
                headings = (heading.lower().replace(" ", "_") for heading in HEADINGS)
                return tuple(headings), values(host)
        raise CommandError(f"there is no host {parsed_args.host!r} with slots; see host list")
