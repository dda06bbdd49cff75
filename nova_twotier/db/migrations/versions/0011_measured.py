"""Measured and learned CPU utilisations beside declared ones; jobs are found by owner and name."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column, add_index

revision = "0011"
down_revision = "0010"


def upgrade():
    add_column("job", sa.Column("learned", sa.JSON))
    add_column("job", sa.Column("measured", sa.JSON))
    add_index("job", "project_id", "user_id", "name", "finished_at")
