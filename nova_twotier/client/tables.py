"""Base classes of the commands that print tables: empty cells for people, plain values for CSV."""

import argparse
import functools
from typing import NoReturn

from cliff.columns import FormattableColumn
from osc_lib.command import command


class _OneLineOfError:
    """A command that says in one line what is wrong with its arguments, without its whole usage."""

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.error = functools.partial(_refuse, parser)
        return parser


def _refuse(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    parser.exit(2, f"{parser.prog}: error: {message} (see {parser.prog} --help)\n")


class Lister(_OneLineOfError, command.Lister):
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


class ShowOne(_OneLineOfError, command.ShowOne):
    """Prints the fields of one thing."""

    #: Whether people see fields without a value, too; programs always do.
    print_empty_fields = True

    def produce_output(self, parsed_args, column_names, data):
        every = self.print_empty_fields or parsed_args.columns
        if parsed_args.formatter == "table" and not every:
            pairs = zip(column_names, data, strict=True)
            column_names, data = zip(*[pair for pair in pairs if _filled(pair[1])], strict=True)
        self.formatter = _converting(self.formatter, parsed_args.formatter)
        return super().produce_output(parsed_args, column_names, data)


class _Converting:
    """A formatter of cliff's that gets each cell converted, after the rows have been sorted."""

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
    convert = {"table": _shown, "csv": _plain}.get(name)
    return _Converting(formatter, convert) if convert else formatter


def _shown(cell):
    """A cell for people: nothing where there is no value."""
    value = cell.human_readable() if isinstance(cell, FormattableColumn) else cell
    return "" if value is None else value


def _filled(cell) -> bool:
    return _shown(cell) != ""


def _plain(cell):
    """A cell for CSV: cliff's own formatter would quote numbers of formatted columns."""
    value = cell.machine_readable() if isinstance(cell, FormattableColumn) else cell
    return value if value is None or isinstance(value, int | float) else cell
