"""Policies that operators chose at run time, and hosts that they drain."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column, create_table

revision = "0018"
down_revision = "0017"


def upgrade():
    add_column("queue", sa.Column("policy", sa.String(64)))
    add_column("leader", sa.Column("policy", sa.String(64)))
    create_table(
        "drain",
        sa.Column("host", sa.String(255), primary_key=True),
        sa.Column("since", sa.Double, nullable=False),
        sa.Column("until", sa.Double),
        sa.Column("reason", sa.String(255), nullable=False),
        sa.Column("migrate", sa.Boolean, nullable=False),
    )
