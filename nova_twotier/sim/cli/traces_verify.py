"""`traces verify`: whether files are the traces that they are called after."""

import pathlib

from nova_twotier.sim.cli.command import Table
from nova_twotier.sim.workloads import archive

SUFFIXES = (".swf", ".swf.gz")


class TracesVerify(Table):
    """Compare files with the traces that were used here; exit code 1 if one differs"""

    _epilog = (
        "Example: twotier-sim traces verify traces. The checksum is that of the unpacked file, so "
        "a file may be packed or not."
    )

    #: Of the command.
    code = 0

    def add_arguments(self, parser):
        parser.add_argument(
            "path",
            nargs="*",
            type=pathlib.Path,
            default=[archive.DIRECTORY],
            metavar="PATH",
            help="a trace, called as in the archive, or a directory of some, e.g. "
            f"KTH-SP2-1996-2.swf.gz (default: {archive.DIRECTORY})",
        )

    def run(self, parsed_args):
        return super().run(parsed_args) or self.code

    def take_action(self, parsed_args):
        rows = [self._row(file) for path in parsed_args.path for file in _files(path)]
        return ("file", "trace", "state"), rows

    def _row(self, file: pathlib.Path) -> tuple[str, str, str]:
        log = archive.named(file)
        if log is None:
            return str(file), "-", "not in the list"
        try:
            archive.check(file, log)
        except archive.ArchiveError as error:
            self.code = 1
            self.app.complain(error)
            return str(file), log.name, "differs"
        return str(file), log.name, "ok"


def _files(path: pathlib.Path) -> list[pathlib.Path]:
    """The file, or the traces in a directory.

    :raises ValueError: if there are none.
    """
    if not path.exists():
        raise ValueError(f"{path}: there is no such file or directory")
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))
    if not files:
        raise ValueError(f"{path}: has no file that ends in {' or '.join(SUFFIXES)}")
    return files
