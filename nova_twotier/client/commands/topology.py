"""`openstack twotier topology show`, for administrators."""

from nova_twotier.client import arguments, columns, names, tables, tree

HEADINGS = ("Name", "Type", "Rate", "Residual", "FG Free", "BG Free")


class ShowTopology(tables.Lister):
    """Show the tree of switches and hosts with the free bandwidth and slots; for administrators.

    Rate and Residual are the total and the unreserved Mbit/s of the link up; Residual is negative
    if the link's rate was lowered below its reservations. FG Free and BG Free are free places for
    processes on a host, or on all hosts below a switch. A dash means that the link is not counted,
    because its hosts have no twotier:uplink_mbps.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--pool",
            metavar="<pool>",
            help="only the hosts of this pool, and the switches above them (default: all)",
        )
        parser.add_argument(
            "--depth",
            type=arguments.whole,
            metavar="<n>",
            help="number of levels of the tree to show, from its root, such as 2 (default: all)",
        )
        return parser

    def take_action(self, parsed_args):
        api = self.app.client_manager.twotier
        topology = api.topology(pool=parsed_args.pool)
        if not topology["hosts"]:
            names.check_pool(api, parsed_args.pool)
        rows = list(tree.drawn(tree.of(topology), parsed_args.depth))
        width = max((len(str(node.rate)) for _branch, node in rows), default=0)
        return HEADINGS, [
            (
                columns.Shown(node.name, branch),
                node.kind,
                columns.amount(node.rate, width),
                columns.amount(node.residual, width),
                node.foreground,
                node.background,
            )
            for branch, node in rows
        ]
