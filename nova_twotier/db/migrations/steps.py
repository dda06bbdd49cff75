"""Steps of migrations that may have been done: MariaDB commits each at once.

A migration that was killed begins anew with its first step.
"""

import sqlalchemy as sa
from alembic import op


def add_column(table: str, column: sa.Column) -> None:
    if column.name not in {each["name"] for each in sa.inspect(op.get_bind()).get_columns(table)}:
        op.add_column(table, column)


def create_table(name: str, *columns: sa.Column, indexed: str = "") -> None:
    """Create a table, and an index on one of its columns, which is a step by itself."""
    if not sa.inspect(op.get_bind()).has_table(name):
        op.create_table(
            name,
            *columns,
            mysql_engine="InnoDB",
            mysql_charset="utf8mb4",
            mysql_collate="utf8mb4_bin",
        )
    if indexed:
        add_index(name, indexed)


def add_index(table: str, *columns: str) -> None:
    index = _index(table, *columns)
    if index not in _indexes(table):
        op.create_index(index, table, columns)


def drop_index(table: str, *columns: str) -> None:
    index = _index(table, *columns)
    if index in _indexes(table):
        op.drop_index(index, table)


def _index(table: str, *columns: str) -> str:
    return "_".join(("ix", table, *columns))


def _indexes(table: str) -> set[str | None]:
    return {each["name"] for each in sa.inspect(op.get_bind()).get_indexes(table)}
