"""Formats rows for operators as tables, JSON, CSV or YAML."""

import csv
import io
import json

import yaml
from prettytable import PrettyTable

FORMATS = ("table", "json", "csv", "yaml")


def many(rows: list[dict], style: str, nothing: str) -> str:
    """Several items, one per line.

    :param nothing: the text for a table without rows.
    """
    if style != "table":
        return _written(rows, style)
    if not rows:
        return nothing
    table = PrettyTable(list(rows[0]), align="l")
    table.add_rows([[_cell(value) for value in row.values()] for row in rows])
    return table.get_string()


def _written(rows: list[dict], style: str) -> str:
    """The rows in a format for programs."""
    if style == "json":
        return json.dumps(rows, indent=2)
    if style == "yaml":
        return yaml.safe_dump(rows, sort_keys=False, allow_unicode=True).rstrip("\n")
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return lines.getvalue().rstrip("\n")


def _cell(value) -> str:
    return "" if value is None else str(value)
