"""Checks commands of ours by the parsers of our programs: nothing runs."""

import argparse
import contextlib
import importlib.util
import pathlib
import re
from collections.abc import Callable, Sequence

from cliff.commandmanager import CommandManager

from nova_twotier.calibration import arguments as calibration
from nova_twotier.cmd import manage
from nova_twotier.conf import arguments
from nova_twotier.sim.cli.commands import COMMANDS, Commands
from nova_twotier.tools.demo import cli as demo
from nova_twotier.tools.fakecloud import cli as fakecloud
from nova_twotier.tools.faults import cli as faults
from nova_twotier.tools.replay import cli as replay

Parser = argparse.ArgumentParser


class Wrong(Exception):
    """There is no such command or option; the message says which."""


def check(words: Sequence[str], whole: bool = True) -> bool:
    """Check a command if it is one of ours.

    :param whole: it is given as it is typed; otherwise its arguments may be missing.
    :return: whether it is one of ours.
    :raises Wrong: if a subcommand or an option does not exist, or the arguments do not go together.
    """
    program, rest = pathlib.PurePath(words[0]).name, list(words[1:])
    if program.startswith("python") and rest[:1] == ["-m"]:
        program, rest = " ".join(rest[:2]), rest[2:]
    find = PROGRAMS.get(program)
    if find is None:
        return program.startswith("-m nova_twotier") and _module(program.removeprefix("-m "))
    if not rest and not whole:
        return True
    found = find(rest)
    if found is None:
        return False
    parser, rest = found
    check_names(parser, rest)
    if whole and "..." not in rest:
        parse(parser, rest)
    return True


def _module(name: str) -> bool:
    if importlib.util.find_spec(name) is None:
        raise Wrong(f"there is no module {name}")
    return True


def check_names(parser: Parser, words: Sequence[str]) -> None:
    """:raises Wrong: if a parser does not know one of the options by its full name."""
    for word in words:
        option = word.split("=")[0]
        if (
            re.fullmatch(r"--?[a-zA-Z][\w-]*", option)
            and option not in parser._option_string_actions
        ):
            raise Wrong(f"{parser.prog} has no option {option}")


def parse(parser: Parser, words: Sequence[str]) -> None:
    """:raises Wrong: if a parser refuses the words."""

    def error(message):
        raise Wrong(f"{parser.prog}: {message}")

    parser.error = error
    with contextlib.suppress(SystemExit):  # of --help
        parser.parse_args(words)


def _argparse(make: Callable[[], Parser], common: bool = False):
    """Finds the innermost parser of the subcommands that the words name."""

    def find(words):
        parser = make()
        if common:
            _given, words = arguments.common_first(words)
        while verbs := [each for each in parser._actions if hasattr(each, "_name_parser_map")]:
            if not words or words[0] == "..." or words[0].startswith("-"):
                break
            if words[0] not in verbs[0].choices:
                raise Wrong(f"{parser.prog} has no command {words[0]}")
            parser, words = verbs[0].choices[words[0]], words[1:]
        return parser, words

    return find


def _cliff(manager: CommandManager, names, prefix: str = ""):
    known = {tuple(name.split()) for name in names}

    def find(words):
        if not words or words[0] == "..." or words[0].startswith("-"):
            return None
        if not {tuple(words[:2]), tuple(words[:1])} & known:
            raise Wrong(f"there is no command {' '.join(words[:2])}")
        factory, name, rest = manager.find_command([*prefix.split(), *words])
        return factory(None, None).get_parser(name), rest

    return find


def _openstack(words):
    return _CLIENT(words[1:]) if words[:1] == ["twotier"] and words[1:] else None


def _status(words):
    parser = Parser("nova-twotier-status")
    arguments.add_common(parser)
    parser.add_subparsers().add_parser("upgrade").add_subparsers().add_parser("check")
    return _argparse(lambda: parser, common=True)(words)


def _daemon(words):
    parser = Parser()
    arguments.add_common(parser)
    return parser, words


_TWOTIER = CommandManager("openstack.twotier.v1")
_CLIENT = _cliff(_TWOTIER, [name.removeprefix("twotier ") for name, _entry in _TWOTIER], "twotier")
#: Finds the parser of a command of each program, and the words for it.
PROGRAMS = {
    "openstack": _openstack,
    "twotier-sim": _cliff(Commands(), COMMANDS),
    "twotier-manage": _argparse(manage._parser, common=True),
    "twotier-calibrate": _argparse(calibration.parser),
    "twotier-replay": _argparse(replay._parser),
    "fakecloud": _argparse(fakecloud._parser),
    "-m nova_twotier.tools.demo": _argparse(demo._parser),
    "-m nova_twotier.tools.faults": _argparse(faults._parser),
    "nova-twotier-status": _status,
    **dict.fromkeys(("twotier-manager", "twotier-api", "nova-twotier-agent"), _daemon),
}
