"""`twotier-manage`: the operator's commands."""

import argparse
import os
import sys

from nova_twotier import conf as config
from nova_twotier.client import output
from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.trusts import TrustError
from nova_twotier.cmd import manage_db, manage_ledger, manage_snapshot
from nova_twotier.conf import arguments
from nova_twotier.ledger.placement import PlacementError

#: Modules of commands. Their `add_parser` sets `run`, which returns rows and exit code, and
#: `nothing`, the text printed without rows. `run` may set `trouble`, the error that stopped it, and
#: `notes`, lines for people that are no rows.
NOUNS = (manage_ledger, manage_db, manage_snapshot)
ERRORS = (
    config.ConfigError,
    CloudError,
    PlacementError,
    TrustError,
    manage_ledger.ManagerRuns,
    OSError,
)
#: Exit code of a command that was not done: wrong usage or options, or the cloud does not answer.
FAILED = 2


def main(args: list[str] | None = None) -> int:
    args = sys.argv[1:] if args is None else args
    given, others = arguments.common_first(args)
    options = _parser().parse_args(others)
    try:
        conf = config.load(given, "twotier-manage")
        if arguments.asks_for_log(given):
            config.start_logging(conf)
        rows, code = options.run(conf, options)
    except ERRORS as error:
        return _failed(error)
    try:
        print(output.many(rows, options.format, nothing=options.nothing), flush=True)
    except BrokenPipeError:
        # The reader closed the pipe (`| head`).
        _give_up_output()
    except OSError as error:
        # It found no room, for example on a full disk.
        _give_up_output()
        return _failed(OSError(error.errno, error.strerror, "standard output"))
    for note in options.notes:
        print(f"twotier-manage: {note}", file=sys.stderr)
    return _failed(options.trouble) if options.trouble else code


def _give_up_output() -> None:
    """Keep the interpreter from complaining at its exit about what could not be printed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failed(error: Exception) -> int:
    message = str(error)
    if isinstance(error, OSError) and error.filename and error.strerror:
        message = f"{error.filename}: {error.strerror}"
    print(f"twotier-manage: {' '.join(message.split())}", file=sys.stderr)
    return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="twotier-manage", description="Commands for the operator of a two-tier cloud."
    )
    arguments.add_common(parser)
    parser.set_defaults(trouble=None, notes=())
    nouns = parser.add_subparsers(
        required=True, metavar="ledger|db|history|schedule|trust|snapshot"
    )
    for noun in NOUNS:
        noun.add_parser(nouns)
    return parser


if __name__ == "__main__":
    sys.exit(main())
