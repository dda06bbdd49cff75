"""The base of all commands: a usage error prints one line on stderr and ends with exit code 2."""

import argparse
import math
from collections.abc import Iterable, Mapping, Sequence

from cliff.columns import FormattableColumn
from cliff.command import Command
from cliff.lister import Lister
from cliff.show import ShowOne


class Complaining:
    """Mixed into a command of cliff, before it."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)

        def error(message: str):
            self.app.complain(f"{message} (see {prog_name} --help)")
            raise SystemExit(2)

        parser.error = error
        self.add_arguments(parser)
        return parser

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Override to add the command's own."""

    def check(self, parsed_args: argparse.Namespace) -> None:
        """Refuse mistakes before anything is done; commands add their own checks.

        :raises ValueError: if there is one.
        """

    def get_epilog(self) -> str:
        return self._epilog or ""

    def run(self, parsed_args: argparse.Namespace) -> int:
        try:
            self.check(parsed_args)
            return super().run(parsed_args)
        except BrokenPipeError:
            raise
        except (OSError, ValueError) as error:
            if self.app.options.debug:
                raise
            self.app.complain(_words(error))
            return 2


class Action(Complaining, Command):
    """A command that prints no table."""


class Printing(Complaining):
    """A command that prints columns, of which the user may choose some; unknown ones are refused.

    cliff leaves them out without a word, or refuses them when all has been computed.
    """

    def columns(self, parsed_args: argparse.Namespace) -> Sequence[str] | None:
        """The names of the columns to print; None if they are known only after the run."""
        return None

    def check(self, parsed_args):
        super().check(parsed_args)
        if (columns := self.columns(parsed_args)) is not None:
            self._require(parsed_args, columns)

    def produce_output(self, parsed_args, column_names, data):
        self._require(parsed_args, column_names)
        return super().produce_output(parsed_args, column_names, data)

    def _require(self, parsed_args, columns: Sequence[str]) -> None:
        known = set(map(self._normalize_column_name, columns))
        for name in parsed_args.columns:
            if self._normalize_column_name(name) not in known:
                raise ValueError(f"there is no column {name!r}; choose from: {', '.join(columns)}")


class Table(Printing, Lister):
    """A command that prints rows."""

    def produce_output(self, parsed_args, column_names, data):
        if parsed_args.formatter == "csv":
            # cliff would write the word None for what there is not.
            data = [tuple(map(_plain, row)) for row in data]
        return super().produce_output(parsed_args, column_names, data)


class Card(Printing, ShowOne):
    """A command that prints one object."""


class Number(FormattableColumn):
    """A number: four digits for people, all of them for machines."""

    def human_readable(self) -> str:
        if self._value is None:
            return "-"
        if abs(self._value) >= 1000:
            return f"{self._value:.0f}"
        # The rounding error of a time difference is not a time; adding 0 makes -0 a 0.
        return f"{round(self._value, 9) + 0.0:.4g}"


def _plain(value):
    """A cell of a CSV file: empty where there is no value."""
    if not isinstance(value, FormattableColumn):
        return value
    found = value.machine_readable()
    return "" if found is None else found


def cell(value):
    """A value as cliff prints it: without numpy's types, and None for what is not a number."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return Number(value if math.isfinite(value) else None)
    return value


def card(row: Mapping) -> tuple[tuple, tuple]:
    """One object as cliff takes it."""
    return tuple(row), tuple(cell(value) for value in row.values())


def table(rows: Iterable[Mapping], columns: Iterable[str]) -> tuple[tuple, list[tuple]]:
    """Rows as cliff takes them."""
    columns = tuple(columns)
    return columns, [tuple(cell(row[column]) for column in columns) for row in rows]


def count(number: int, noun: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _words(error: Exception) -> str:
    """An error for people: of the system's, without the number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__
