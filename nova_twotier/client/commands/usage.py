"""`openstack twotier usage show|list`."""

from nova_twotier.client import arguments, columns, names, tables

#: Columns of what usage may be summed by: heading, and field of the API.
BY = {
    "month": {"Start": "start", "End": "end"},
    "day": {"Start": "start", "End": "end"},
    "project": {"Project": "project_id"},
    "user": {"User": "user_id"},
    "pool": {"Pool": "pool"},
    "qos": {"QoS": "qos"},
    "job": {
        "Number": "job_number",
        "Name": "job_name",
        "Project": "project_id",
        "User": "user_id",
        "Pool": "pool",
    },
}
SUMS = {
    "Foreground": "foreground",
    "Background": "background",
    "Lost": "lost",
    "Started": "jobs_started",
    "Ended": "jobs_ended",
}
#: Fields in seconds, shown as hours, minutes and seconds.
SLOT_TIMES = ("foreground", "background", "slot_time", "lost")


class ShowUsage(tables.ShowOne):
    """Show for how long jobs held slots in a period, and how much of that was lost"""

    def get_parser(self, prog_name):
        return _with_choice(super().get_parser(prog_name))

    def take_action(self, parsed_args):
        clients = self.app.client_manager
        query = _chosen(clients, parsed_args)
        found = clients.twotier.usage(**query)
        total = found["total"]
        if not any(total.values()):
            names.check_pool(clients.twotier, parsed_args.pool)
        shown = {
            "start": found["start"],
            "end": found["end"],
            **{name: query[name] for name in ("project_id", "user_id", "pool") if query[name]},
            "foreground": total["foreground"],
            "background": total["background"],
            "slot_time": round(total["foreground"] + total["background"], 3),
            "lost": total["lost"],
            "jobs_started": total["jobs_started"],
            "jobs_ended": total["jobs_ended"],
        }
        return tuple(shown), tuple(_cell(name, shown) for name in shown)


class ListUsage(tables.Lister):
    """List for how long jobs held slots in a period, by user unless --by says otherwise"""

    def get_parser(self, prog_name):
        parser = _with_choice(super().get_parser(prog_name))
        parser.add_argument(
            "--by",
            type=_by,
            metavar="<what>",
            help=f"sum by {', '.join(BY)}, or several such as project,month; days and months are "
            "those of UTC (default: user; with --all-projects: project)",
        )
        return parser

    def take_action(self, parsed_args):
        clients = self.app.client_manager
        by = parsed_args.by or ["project" if parsed_args.all_projects else "user"]
        found = clients.twotier.usage(by=by, **_chosen(clients, parsed_args))["usage"]
        if not found:
            names.check_pool(clients.twotier, parsed_args.pool)
        # In the order of the table, not of the words.
        shown = {head: field for word in BY if word in by for head, field in BY[word].items()}
        shown |= SUMS
        return tuple(shown), [tuple(_cell(field, row) for field in shown.values()) for row in found]


def _with_choice(parser):
    """Add the options that say which use to sum; returns the parser."""
    parser.add_argument(
        "--start",
        type=arguments.day_or_moment,
        metavar="<time>",
        help="from this time on: a day of UTC such as 2026-01-31, a time with its zone such as "
        "2026-01-31T12:00:00Z, or how long ago, such as 7d (default: the beginning of the month)",
    )
    parser.add_argument(
        "--end",
        type=arguments.day_or_moment,
        metavar="<time>",
        help="until before this time, in the same forms (default: now)",
    )
    parser.add_argument(
        "--project",
        metavar="<project>",
        help="only of this project, by name or id (default: that of the token); other projects "
        "are for administrators",
    )
    parser.add_argument("--user", metavar="<user>", help="only jobs of this user, by name or id")
    parser.add_argument("--pool", metavar="<pool>", help="only jobs of this pool of hosts")
    arguments.add_all_projects(parser)
    return parser


def _chosen(clients, parsed_args) -> dict:
    """The query of what the options choose."""
    project, user = parsed_args.project, parsed_args.user
    return {
        "start": parsed_args.start,
        "end": parsed_args.end,
        "project_id": project and names.project_id(clients, project),
        "user_id": user and names.user_id(clients, user),
        "pool": parsed_args.pool,
        "all_projects": parsed_args.all_projects,
    }


def _by(text: str) -> list[str]:
    return arguments.words(text, tuple(BY))


def _cell(name: str, item: dict):
    value = item[name]
    if name == "job_number":
        return columns.number_cell(item, name)
    if name in ("start", "end"):
        return columns.Time(value)
    if name == "qos":
        return columns.Shown(value, value or "-")
    return columns.Elapsed(value) if name in SLOT_TIMES else value
