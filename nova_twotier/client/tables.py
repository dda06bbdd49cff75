"""Base classes of the commands that print tables: empty cells for people, nulls for programs."""

import argparse
import functools
import io
from typing import NoReturn

from cliff.columns import FormattableColumn
from osc_lib.command import command

from nova_twotier.client.columns import INTERVALS


class OneLineOfError:
    """A command that says in one line what is wrong with its arguments, without its whole usage.

    A character that the terminal lacks is printed by its number: a job that is submitted is no
    error, whatever it is called.
    """

    def run(self, parsed_args):
        stdout = self.app.stdout
        if isinstance(stdout, io.TextIOWrapper) and stdout.errors == "strict":
            stdout.reconfigure(errors="backslashreplace")
        return super().run(parsed_args)

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.error = functools.partial(_refuse, parser)
        return parser


def _refuse(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    parser.exit(2, f"{parser.prog}: error: {message} (see {parser.prog} --help)\n")


def for_people(parsed_args: argparse.Namespace) -> bool:
    """Whether a table is printed whose columns the user has not chosen."""
    return parsed_args.formatter == "table" and not parsed_args.columns


class Lister(OneLineOfError, command.Lister):
    """Prints a table of several rows."""

    #: Whether a table without a row is printed at all; if not, the command says itself what is up.
    print_no_rows = True

    def produce_output(self, parsed_args, column_names, data):
        if parsed_args.formatter == "table" and not (self.print_no_rows or parsed_args.print_empty):
            data = list(data)
            if not data:
                return 0
        self.formatter = _converting(self.formatter, parsed_args.formatter)
        return super().produce_output(parsed_args, column_names, data)


class ShowOne(OneLineOfError, command.ShowOne):
    """Prints the fields of one thing."""

    #: Whether people see fields without a value, too; programs always do.
    print_empty_fields = True

    def produce_output(self, parsed_args, column_names, data):
        if for_people(parsed_args):
            pairs = [
                (name, cell)
                for name, cell in zip(column_names, data, strict=True)
                if name not in INTERVALS and (self.print_empty_fields or _filled(cell))
            ]
            column_names, data = zip(*pairs, strict=True)
        self.formatter = _converting(self.formatter, parsed_args.formatter)
        return super().produce_output(parsed_args, column_names, data)


class _Converting:
    """A formatter of cliff's that gets each cell converted, after the rows have been sorted.

    :param convert: makes a string or a plain value of a cell.
    """

    def __init__(self, formatter, convert):
        self._formatter, self._convert = formatter, convert

    def emit_list(self, column_names, data, stdout, parsed_args):
        rows = (tuple(map(self._convert, row)) for row in data)
        self._formatter.emit_list(column_names, rows, stdout, parsed_args)

    def emit_one(self, column_names, data, stdout, parsed_args):
        cells = tuple(map(self._convert, data))
        self._formatter.emit_one(column_names, cells, stdout, parsed_args)


def _converting(formatter, name: str):
    """
    :param name: what the user calls it.
    """
    convert = {"table": _shown, "value": _value, "shell": _value}.get(name, _plain)
    return _Converting(formatter, convert)


def _shown(cell):
    """A cell for people: nothing where there is no value."""
    value = cell.human_readable() if isinstance(cell, FormattableColumn) else cell
    return "" if value is None else value


def _filled(cell) -> bool:
    return _shown(cell) != ""


def _value(cell):
    """The value of a cell for formats without types.

    As in other commands of OpenStack, an empty text is printed as such, and null as None.
    """
    return cell.machine_readable() if isinstance(cell, FormattableColumn) else cell


def _plain(cell):
    """The value of a cell for programs: a number stays a number, and empty text becomes null."""
    return _without_empty(_value(cell))


def _without_empty(value):
    """A value with None for empty texts, in which the API has what is missing, at any depth."""
    if isinstance(value, dict):
        return {name: _without_empty(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_empty(each) for each in value]
    return None if value == "" else value
