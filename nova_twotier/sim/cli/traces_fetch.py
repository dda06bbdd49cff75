"""`traces fetch`: downloads traces and checks them."""

import pathlib

from nova_twotier.sim.cli import progress
from nova_twotier.sim.cli.command import Action
from nova_twotier.sim.workloads import archive

#: In the place of a name.
ALL = "all"


class TracesFetch(Action):
    """Download traces from the Parallel Workloads Archive and check what came"""

    _epilog = (
        "Example: twotier-sim traces fetch KTH-SP2-1996-2. Without a network here, download the "
        "URLs of `traces list --long` elsewhere, copy the files, and run `traces verify`."
    )

    def add_arguments(self, parser):
        parser.add_argument(
            "name", nargs="+", metavar="NAME", help="as `traces list` names them, or all"
        )
        parser.add_argument(
            "--out",
            type=pathlib.Path,
            default=archive.DIRECTORY,
            metavar="DIR",
            help=f"where to put them, e.g. /data/traces (default: {archive.DIRECTORY})",
        )
        parser.add_argument(
            "--from",
            dest="mirror",
            metavar="MIRROR",
            help="a directory or URL that has the files, e.g. https://mirror.example.org/traces "
            "(default: the archive)",
        )
        progress.add_quiet(parser)

    def take_action(self, parsed_args):
        names = list(archive.LOGS) if ALL in parsed_args.name else parsed_args.name
        logs = [archive.get(name) for name in dict.fromkeys(names)]
        for log in logs:
            path = parsed_args.out / log.file
            if path.exists():
                archive.check(path, log)
                print(f"{path}: is there already", file=self.app.stdout)
                continue
            # Of the packed file, the size is not known.
            with progress.bar(parsed_args, None, "B", unit_scale=True, desc=log.name) as shown:
                archive.fetch(log, parsed_args.out, parsed_args.mirror, shown.update)
            print(f"{path}: {_thanks(log)}", file=self.app.stdout)
        return 0


def _thanks(log: archive.Log) -> str:
    terms = f"; {log.terms}" if log.terms else ""
    return f"fetched; acknowledge {log.acknowledge}{terms}"
