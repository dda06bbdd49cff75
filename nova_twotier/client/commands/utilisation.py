"""`openstack twotier utilisation list`."""

from nova_twotier.client import arguments, columns, names, tables

#: Columns: heading, and where the API has it.
SHOWN = {
    "At": ("at",),
    **{
        f"{title} {what}": (tier, what.lower())
        for title, tier in (("FG", "foreground"), ("BG", "background"))
        for what in ("Used", "Open")
    },
    "Jobs Waiting": ("jobs", "waiting"),
    "Processes Waiting": ("processes", "waiting"),
    "Lost": ("lost",),
}


class ListUtilisation(tables.Lister):
    """List how many slots were used in each tier, and how long the queue was, over time

    Used and open slots, and waiting jobs and processes, are means over an interval; Lost is the
    slot time whose work was discarded in it. Intervals without a queue manager are missing."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--from",
            dest="begin",
            type=arguments.moment,
            metavar="<time>",
            help="from this time on: with its zone, such as 2026-01-31T12:00:00Z, or how long ago, "
            "such as 90m or 7d (default: a day before --to)",
        )
        parser.add_argument(
            "--to",
            dest="end",
            type=arguments.moment,
            metavar="<time>",
            help="end of the span, exclusive (default: now)",
        )
        parser.add_argument(
            "--points",
            type=arguments.whole,
            metavar="<number>",
            default=24,
            help="at most so many intervals, 2 to 2000, as short as that allows (default: 24)",
        )
        parser.add_argument(
            "--pool", metavar="<pool>", help="only this pool of hosts (default: the sum of all)"
        )
        return parser

    def take_action(self, parsed_args):
        api = self.app.client_manager.twotier
        query = {"from": parsed_args.begin, "to": parsed_args.end, "points": parsed_args.points}
        found = api.utilisation(pool=parsed_args.pool, **query)["utilisation"]
        if not found:
            names.check_pool(api, parsed_args.pool)
        return tuple(SHOWN), [tuple(_cell(row, *path) for path in SHOWN.values()) for row in found]


def _cell(row: dict, name: str, part: str = ""):
    value = row[name][part] if part else row[name]
    if name == "at":
        return columns.Time(value)
    return columns.Elapsed(value) if name == "lost" else value
