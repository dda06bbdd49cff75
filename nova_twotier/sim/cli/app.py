"""The application: global options, help, and error messages."""

import argparse
import inspect
import itertools
import logging
from importlib import metadata

from cliff import app

from nova_twotier.sim.cli.commands import COMMANDS, Commands

DESCRIPTION = "Runs scheduling policies on traces of parallel jobs, and compares and plots them."


class Simulator(app.App):
    NAME = "twotier-sim"
    LOG = logging.getLogger(NAME)

    def __init__(self):
        super().__init__(DESCRIPTION, metadata.version("nova-twotier"), Commands())

    def build_option_parser(self, description, version, argparse_kwargs=None):
        parser = _Parser(prog=self.NAME, description=description, add_help=False)
        parser.usage = f"{self.NAME} [--version] [--debug] [-h] COMMAND ..."
        parser.add_argument("--version", action="version", version=f"{self.NAME} {version}")
        parser.add_argument(
            "--debug", action="store_true", help="show where in the program an error was raised"
        )
        parser.add_argument(
            "-h",
            "--help",
            action="help",
            help="show this help; after a command, that of the command",
        )
        return parser

    def configure_logging(self) -> None:
        """Errors go to stderr, a line each; libraries stay silent."""
        handler = logging.StreamHandler(self.stderr)
        handler.setFormatter(logging.Formatter(f"{self.NAME}: %(message)s"))
        self.LOG.handlers = [handler]
        self.LOG.propagate = False

    def run(self, argv: list[str]) -> int:
        if argv[:1] == ["help"]:
            argv = [*argv[1:], "--help"]
        return super().run(argv or ["--help"])

    def interact(self) -> None:
        """No shell of our own: cliff's takes a second to start."""
        self.parser.parse_args(["--help"])

    def get_fuzzy_matches(self, cmd: str) -> list[str]:
        """None: the command manager says what there is, in one line."""
        return []

    def clean_up(self, cmd, result, err) -> None:
        """After an error that no command expects, whose own words may not say much."""
        expected = isinstance(err, BrokenPipeError) or self.options.debug
        if isinstance(err, Exception) and not expected:
            name = type(err).__name__
            if isinstance(err, ModuleNotFoundError):
                self.complain("the simulator needs more packages: pip install 'nova-twotier[sim]'")
                return
            self.complain(f"{name} is a fault of this program; {self.NAME} --debug shows where")

    def complain(self, message: object) -> None:
        """One line on stderr."""
        self.LOG.error(str(message).splitlines()[0])


class _Parser(argparse.ArgumentParser):
    """Parses the options before the command: a --help after it belongs to the command."""

    def parse_known_args(self, args=None, namespace=None):
        own = list(itertools.takewhile(lambda word: word.startswith("-"), args))
        options, unknown = super().parse_known_args(own, namespace)
        return options, unknown + args[len(own) :]

    def format_help(self) -> str:
        """The options and the commands."""
        width = max(map(len, COMMANDS))
        lines = ["", "commands:"]
        for name, entry in Commands():
            first = (inspect.getdoc(entry.load()) or "").split("\n")[0]
            lines.append(f"  {name:{width}}  {first}")
        return super().format_help() + "\n".join(lines) + "\n"
