"""Formats rows one by one, as they come; their cells have been converted, see `tables`."""

import json

from cliff.formatters.base import ListFormatter


class Streamed(ListFormatter):
    """Writes a line for each row, as soon as there is one."""

    def add_argument_group(self, parser):
        pass

    def emit_list(self, column_names, data, stdout, parsed_args):
        for line in self.lines(column_names, data):
            print(line, file=stdout, flush=True)

    def lines(self, column_names, rows):
        raise NotImplementedError


class Lines(Streamed):
    """For people: a heading, and columns that become wider as they have to."""

    def lines(self, column_names, rows):
        heading = list(column_names)
        widths = list(map(len, heading))
        for row in rows:
            cells = list(map(str, row))
            widths = list(map(max, widths, map(len, cells)))
            if heading:
                yield _aligned(heading, widths)
                heading = []
            yield _aligned(cells, widths)


class JsonLines(Streamed):
    """For programs: a JSON object in each line."""

    def lines(self, column_names, rows):
        for row in rows:
            yield json.dumps(dict(zip(column_names, row, strict=True)))


def _aligned(cells, widths) -> str:
    return "  ".join(map(str.ljust, cells, widths)).rstrip()
