"""`openstack twotier schedule list`."""

from nova_twotier.client import arguments, columns, names, tables

HEADINGS = (
    *("Number", "Name", "Project", "Size", "Process"),
    *("Slot", "Tier", "From", "To", "Expected From", "Expected To", "Host"),
)


def values(stay: dict) -> tuple:
    """The cells of a stay; empty if they are unknown, or hidden from the reader."""
    job, times = stay["job"] or {}, (stay["from"], stay["to"])
    if "host" in stay:
        times += None, stay["predicted_to"]
    else:
        times = (None, None, *times)
    return (
        columns.number_cell(job, "number"),
        *(job.get(name) for name in ("name", "project_id")),
        *(stay.get(name) for name in ("size", "process", "slot", "tier")),
        *(columns.cell("at", time) for time in times),
        stay.get("host"),
    )


class ListSchedule(tables.Lister):
    """List which slots processes held and hold, and when jobs are expected to start and end"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--from",
            dest="begin",
            type=arguments.moment,
            metavar="<time>",
            help="only what ends after this time: with its zone, such as 2026-01-31T12:00:00Z, or "
            "how long ago, such as 90m or 2d, at most 31d before --to or now (default: a day)",
        )
        parser.add_argument(
            "--to",
            dest="end",
            type=arguments.moment,
            metavar="<time>",
            help="only what begins before this time (default: no end)",
        )
        parser.add_argument("--pool", metavar="<pool>", help="only of jobs of this pool")
        return parser

    def take_action(self, parsed_args):
        window = {"from": parsed_args.begin, "to": parsed_args.end}
        api = self.app.client_manager.twotier
        stays = list(api.schedule(pool=parsed_args.pool, **window))
        if not stays:
            names.check_pool(api, parsed_args.pool)
        return HEADINGS, (values(stay) for stay in stays)
