"""Which slot each process holds, indexes to page through them, and the leaders' revisions."""

import itertools

import sqlalchemy as sa
from alembic import op

from nova_twotier.db.migrations.steps import add_column, add_index, drop_index

revision = "0026"
down_revision = "0025"


def upgrade():
    add_column("place", sa.Column("slot", sa.Integer))
    add_index("place", "since")
    add_index("place", "until", "since")
    drop_index("place", "until")
    add_column("leader", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))
    _number(op.get_bind())


def _number(connection):
    """Number the slots that are held now; past stays keep none."""
    columns = map(sa.column, ("id", "host", "tier", "since", "until", "slot"))
    place = sa.table("place", *columns)
    held = sa.select(place.c.id, place.c.host, place.c.tier).where(place.c.until.is_(None))
    rows = connection.execute(held.order_by(place.c.host, place.c.tier, place.c.since, place.c.id))
    numbered = [
        {"which": row.id, "number": slot}
        for _tier, group in itertools.groupby(rows, lambda row: (row.host, row.tier))
        for slot, row in enumerate(group)
    ]
    if numbered:
        which = place.c.id == sa.bindparam("which")
        connection.execute(
            sa.update(place).where(which).values(slot=sa.bindparam("number")), numbered
        )
