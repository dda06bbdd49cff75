"""`openstack twotier host list`, and `host show` for administrators."""

from osc_lib.exceptions import CommandError

from nova_twotier.client import columns, tables

#: Heading, tier and field of a host.
USE = [
    (f"{short} {field}", tier, field.lower())
    for short, tier in (("FG", "foreground"), ("BG", "background"))
    for field in ("Used", "Places", "CPU")
]
#: Heading and field of the drain of a host.
DRAIN = {"State": "state", "Reason": "reason", "From": "starts_at", "Until": "ends_at"}
HEADINGS = (
    *("Name", "Slots", "Tiers", "Closed"),
    *(heading for heading, _tier, _field in USE),
    *DRAIN,
)


def values(host: dict) -> tuple:
    """The cells of a host; those of what is not known of it are empty."""
    whole = (host.get(name) for name in ("name", "slots", "tiers", "closed"))
    use = (host.get(tier, {}).get(field) for _heading, tier, field in USE)
    # An API of an earlier release knows no drains.
    drain = host.get("drain") or {}
    return (*whole, *use, *(columns.cell(field, drain.get(field)) for field in DRAIN.values()))


def shown(host: dict) -> tuple[tuple, tuple]:
    """A host alone: its fields and their values."""
    names = (heading.lower().replace(" ", "_") for heading in HEADINGS)
    return (*names, "migrate"), (*values(host), (host.get("drain") or {}).get("migrate"))


class ListHosts(tables.Lister):
    """List hosts with the slots and tiers that are in use; names are for administrators"""

    def take_action(self, parsed_args):
        hosts = self.app.client_manager.twotier.hosts()
        return HEADINGS, [values(host) for host in hosts]


class ShowHost(tables.ShowOne):
    """Show the slots and tiers of a host; for administrators"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("host", metavar="<host>", help="name of a host")
        return parser

    def take_action(self, parsed_args):
        for host in self.app.client_manager.twotier.hosts():
            if host["name"] == parsed_args.host:
                return shown(host)
        raise CommandError(f"there is no host {parsed_args.host!r} with slots; see host list")
