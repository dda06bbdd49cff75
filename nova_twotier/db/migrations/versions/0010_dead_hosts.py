"""Hosts that count as dead are recorded, so that the next leader knows them, too."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import create_table

revision = "0010"
down_revision = "0009"


def upgrade():
    create_table(
        "dead_host",
        sa.Column("pool", sa.String(255), primary_key=True),
        sa.Column("host", sa.String(255), primary_key=True),
    )
