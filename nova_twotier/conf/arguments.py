"""The arguments that all commands with subcommands take, before and after the subcommand."""

import argparse

#: The name, what it takes (nothing if empty), and what it is for.
COMMON = (
    ("--config-file", "FILE", "configuration of nova-twotier (default: where oslo.config looks)"),
    ("--config-dir", "DIR", "directory of configuration files, which are read after the others"),
    ("--log-file", "FILE", "log to this file"),
    ("--log-dir", "DIR", "directory of the log file, which has the name of the command"),
    ("--debug", "", "log what is done, in detail"),
)


def asks_for_log(given: list[str]) -> bool:
    """Whether the common arguments that were given ask a command for a log."""
    return any(option.startswith(("--debug", "--log-")) for option in given)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the common arguments to a parser; its `given` has those that were given, for `load`."""
    parser.set_defaults(given=[])
    for name, metavar, text in COMMON:
        if metavar:
            parser.add_argument(name, action=_Given, metavar=metavar, help=text)
        else:
            parser.add_argument(name, action=_Given, nargs=0, help=text)


class _Given(argparse.Action):
    """Collects arguments as they were given."""

    def __call__(self, parser, namespace, values, option_string=None):
        text = f"{self.option_strings[0]}={values}" if values else self.option_strings[0]
        namespace.given = [*namespace.given, text]


def common_first(args: list[str]) -> tuple[list[str], list[str]]:
    """The common arguments, which users may give before and after a subcommand, and the others."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_common(parser)
    known, others = parser.parse_known_args(args)
    return known.given, others
