"""`traces list`: which traces can be fetched."""

from nova_twotier.sim.cli.command import Table
from nova_twotier.sim.workloads import archive

SHORT = ("name", "jobs", "processors", "computer", "acknowledge")
LONG = (*SHORT, "terms", "url", "size", "sha256")


class TracesList(Table):
    """List the traces of the Parallel Workloads Archive that were used here"""

    _epilog = (
        "Example: twotier-sim traces list --long -f json. If you publish results, acknowledge "
        f"whom the list names, and cite {archive.CITATION}."
    )

    def add_arguments(self, parser):
        parser.add_argument(
            "--long",
            action="store_true",
            help="also the terms of use, where they come from, and size (bytes) and SHA-256 of the "
            "unpacked file",
        )

    def take_action(self, parsed_args):
        columns = LONG if parsed_args.long else SHORT
        logs = archive.LOGS.values()
        return columns, [tuple(getattr(log, column) for column in columns) for log in logs]
