"""Hosts that count as dead are recorded, so that the next leader knows them, too."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade():
    op.create_table(
        "dead_host",
        sa.Column("pool", sa.String(255), primary_key=True),
        sa.Column("host", sa.String(255), primary_key=True),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
