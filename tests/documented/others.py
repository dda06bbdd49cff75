"""Checks commands of others: what they name of ours is there, and OpenStackClient knows its own."""

import configparser
import functools
import importlib.metadata
import importlib.util
import pathlib
import re
from collections.abc import Callable, Sequence
from unittest import mock

from cliff.commandmanager import CommandManager

from tests.documented.ours import Wrong, check_names, parse
from tests.documented.pages import ROOT

#: The commands of OpenStackClient and its plugins that the pages use.
_GROUPS = (
    *("openstack.cli", "openstack.common", "openstack.compute.v2", "openstack.identity.v3"),
    *("openstack.image.v2", "openstack.network.v2", "openstack.placement.v1"),
)
#: Programs that only do what their names say. Nothing about them can be checked here.
ALLOWED = {
    ".": "reads a file of variables",
    "cat": "writes a file; the tests of that file take it from the page",
    "cd": "of the shell",
    "cp": "of the operating system",
    "curl": "asks the REST API; tests/unit/api/test_documentation.py sends the same requests",
    "done": "of the shell",
    "for": "of the shell",
    "git": "fetches this repository",
    "install": "of the operating system, makes directories with an owner",
    "mariadb": "the client of a database server",
    "openssl": "makes a random key",
    "pre-commit": "is installed by hand, by who wants it",
    "rm": "of the operating system",
    "sqlite3": "the client of the database",
    "ssh-keygen": "makes a key",
    "stack.sh": "of DevStack, which takes a machine of its own",
    "systemctl": "starts and stops services",
    "useradd": "of the operating system",
    "userdel": "of the operating system",
}


def check(words: Sequence[str], whole: bool = True) -> bool:
    """Check a command that is not one of ours.

    :param whole: as of `ours.check`.
    :return: whether its program is known.
    :raises Wrong: if what it names does not exist.
    """
    program = pathlib.PurePath(words[0]).name or words[0]
    find = PROGRAMS.get("python" if program.startswith("python") else program)
    if find is None:
        return program in ALLOWED
    find(words[1:], whole)
    return True


def _openstack(words: Sequence[str], whole: bool) -> None:
    rest = list(words)
    while rest[:1] and rest[0].startswith("--"):  # such as --os-compute-api-version 2.74
        rest = rest[1 if "=" in rest[0] else 2 :]
    manager = _manager()
    if not rest and not whole:
        return
    try:
        factory, name, arguments = manager.find_command(rest)
    except ValueError:
        raise Wrong(f"there is no command {' '.join(rest[:3])}") from None
    parser = factory(mock.MagicMock(), None).get_parser(name)
    check_names(parser, [word for word in arguments if word.startswith("--")])
    if whole and "..." not in arguments:
        parse(parser, arguments)


@functools.cache
def _manager() -> CommandManager:
    manager = CommandManager(_GROUPS[0])
    for group in _GROUPS[1:]:
        manager.add_command_group(group)
    return manager


def _make(words: Sequence[str], _whole: bool) -> None:
    targets = set(re.findall(r"^([\w-]+):(?!=)", (ROOT / "Makefile").read_text(), re.M))
    targets |= {f".venv/{extra}" for extra in ("demo", "docs", "test")}
    for word in words:
        if "=" not in word and word not in targets:
            raise Wrong(f"the Makefile has no target {word}")


def _pip(words: Sequence[str], _whole: bool) -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    for word in words:
        if found := re.fullmatch(r"(?:\.|nova-twotier)\[([\w,]+)\]", word):
            unknown = set(found[1].split(",")) - set(config["options.extras_require"])
            if unknown:
                raise Wrong(f"setup.cfg has no extra {', '.join(unknown)}")
        if re.fullmatch(r"[\w-]+\.txt", word) and not (ROOT / word).exists():
            raise Wrong(f"there is no {word}")


def _python(words: Sequence[str], _whole: bool) -> None:
    if list(words[:1]) == ["-m"]:
        name = words[1]
        if name == "pytest":
            _pytest(words[2:], _whole)
        elif importlib.util.find_spec(name) is None:
            raise Wrong(f"there is no module {name}")
    elif words and words[0].endswith(".py") and "/" in words[0]:
        _there(words[0])


def _pytest(words: Sequence[str], _whole: bool) -> None:
    for word in words:
        if word.startswith("tests/"):
            _there(word.partition("::")[0])


def _nox(words: Sequence[str], _whole: bool) -> None:
    sessions = re.findall(r"@nox\.session.*?\ndef (\w+)\(", (ROOT / "noxfile.py").read_text(), re.S)
    named = [words[at + 1] for at, word in enumerate(words) if word in ("-s", "--session")]
    for name in named:
        # With a parameter, nova(newest), or with the version of Python, python-3.13.
        if re.split("[(-]", name)[0] not in sessions:
            raise Wrong(f"noxfile.py has no session {name}")


def _generator(words: Sequence[str], _whole: bool) -> None:
    there = {each.name for each in importlib.metadata.entry_points(group="oslo.config.opts")}
    there |= {each.name for each in importlib.metadata.entry_points(group="oslo.policy.policies")}
    for at, word in enumerate(words):
        if word == "--namespace" and words[at + 1] not in there:
            raise Wrong(f"there are no options of {words[at + 1]}")
        if word == "--config-file":
            _there(words[at + 1])


def _there(path: str) -> None:
    if not (ROOT / path).exists():
        raise Wrong(f"there is no {path}")


#: What checks the words after the name of a program; the second argument is `whole`.
PROGRAMS: dict[str, Callable[[Sequence[str], bool], None]] = {
    "openstack": _openstack,
    "make": _make,
    "pip": _pip,
    "python": _python,
    "pytest": _pytest,
    "nox": _nox,
    "oslo-config-generator": _generator,
    "oslo-config-validator": _generator,
    "oslopolicy-sample-generator": _generator,
}
