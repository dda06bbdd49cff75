"""The class of service that a job had in each of its stays, and in the sums of purged jobs.

The class becomes part of the primary key of the sums, which SQLite cannot change: they are copied.
"""

import sqlalchemy as sa
from alembic import op

from nova_twotier.db.migrations.steps import add_column, create_table

revision = "0025"
down_revision = "0024"

_KEY = (("project_id", 64), ("user_id", 64), ("pool", 255))
_TIMES = ("foreground", "background", "lost")
_COUNTS = ("started", "ended")


def upgrade():
    add_column("place", sa.Column("qos", sa.String(16)))
    there = sa.inspect(op.get_bind())
    if not there.has_table("usage_day"):
        # Broken off before its last step.
        op.rename_table("usage_day_new", "usage_day")
    elif "qos" not in {each["name"] for each in there.get_columns("usage_day")}:
        _copy(broken_off=there.has_table("usage_day_new"))


def _copy(broken_off):
    if broken_off:
        op.drop_table("usage_day_new")
    key = ("day", *(name for name, _length in _KEY), "qos")
    create_table(
        "usage_day_new",
        sa.Column("day", sa.Integer, nullable=False, autoincrement=False),
        *(sa.Column(name, sa.String(length), nullable=False) for name, length in _KEY),
        sa.Column("qos", sa.String(16), nullable=False),
        *(sa.Column(name, sa.Double, nullable=False) for name in _TIMES),
        *(sa.Column(name, sa.Integer, nullable=False) for name in _COUNTS),
        # PostgreSQL keeps the name when the table gets another one.
        sa.PrimaryKeyConstraint(*key, name="pk_usage_day"),
    )
    names = ("day", *(name for name, _length in _KEY), *_TIMES, *_COUNTS)
    old, new = (sa.table(table, *map(sa.column, names)) for table in ("usage_day", "usage_day_new"))
    new.append_column(sa.column("qos"))
    unknown = sa.select(*old.c, sa.literal("").label("qos"))
    op.execute(sa.insert(new).from_select([*names, "qos"], unknown))
    op.drop_table("usage_day")
    op.rename_table("usage_day_new", "usage_day")
