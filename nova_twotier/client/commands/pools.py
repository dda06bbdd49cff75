"""`openstack twotier pool list|show`: what `sinfo` shows of partitions."""

from osc_lib.exceptions import CommandError

from nova_twotier.client import columns, tables
from nova_twotier.client.commands.queue import with_policy

HEADINGS = (
    "Name",
    "Mode",
    "Policy",
    "Hosts",
    "Slots",
    "FG Free",
    "BG Free",
    "Waiting",
    "Running",
)

#: The pool of jobs and requests that name none.
DEFAULT = "default"


def values(pool: dict) -> tuple:
    return (
        pool["name"],
        pool["mode"],
        pool["policy"]["name"],
        pool["hosts"]["available"],
        pool["slots"],
        pool["foreground"]["free"],
        pool["background"]["free"],
        pool["jobs"]["waiting"],
        pool["jobs"]["running"],
    )


class ListPools(tables.Lister):
    """List the pools of hosts, with their free slots, and the jobs that wait and run there"""

    def take_action(self, parsed_args):
        pools = self.app.client_manager.twotier.pools()
        return HEADINGS, [values(pool) for pool in pools]


class ShowPool(tables.ShowOne):
    """Show a pool of hosts: its policy, its free slots, and the jobs that wait and run there"""

    print_empty_fields = False

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "pool",
            metavar="<pool>",
            nargs="?",
            help="name of a pool (default: the only one, or the default one)",
        )
        return parser

    def take_action(self, parsed_args):
        pools = {pool["name"]: pool for pool in self.app.client_manager.twotier.pools()}
        name, known = parsed_args.pool, ", ".join(pools)
        if name is None:
            name = next(iter(pools)) if len(pools) == 1 else DEFAULT
            if name not in pools:
                raise CommandError(f"say which pool, there are {known}")
        if name not in pools:
            raise CommandError(f"there is no pool {name!r}, only {known}")
        return columns.one(_flat(pools[name]))


def _flat(pool: dict) -> dict:
    """A pool with one field for each number."""
    return {
        "name": pool["name"],
        "mode": pool["mode"],
        **with_policy(pool),
        "hosts": pool["hosts"]["total"],
        "hosts_available": pool["hosts"]["available"],
        "slots": pool["slots"],
        **{
            f"{tier}_{field}": pool[tier][field]
            for tier in ("foreground", "background")
            for field in ("places", "free")
        },
        **{
            f"{what}_{state}": pool[what][state]
            for what in ("jobs", "processes")
            for state in ("waiting", "running")
        },
    }
