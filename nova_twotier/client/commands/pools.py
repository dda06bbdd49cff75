"""`openstack twotier pool list|show`: what `sinfo` shows of partitions."""

from osc_lib.command import command
from osc_lib.exceptions import CommandError

from nova_twotier.client import columns
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


class ListPools(command.Lister):
    """List the pools of hosts, with their free slots, and the jobs that wait and run there"""

    def take_action(self, parsed_args):
        pools = self.app.client_manager.twotier.pools()
        return HEADINGS, [values(pool) for pool in pools]


class ShowPool(command.ShowOne):
    """Show a pool of hosts: its policy, its free slots, and the jobs that wait and run there"""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument("pool", metavar="<pool>", help="name of a pool")
        return parser

    def take_action(self, parsed_args):
        pools = {pool["name"]: pool for pool in self.app.client_manager.twotier.pools()}
        if parsed_args.pool not in pools:
            known = ", ".join(pools)
            raise CommandError(f"there is no pool {parsed_args.pool!r}; there are {known}")
        return columns.one(_flat(pools[parsed_args.pool]))


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
