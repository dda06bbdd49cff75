"""When the leader of a pool last finished a poll."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column

revision = "0024"
down_revision = "0023"


def upgrade():
    add_column("leader", sa.Column("polled_at", sa.Double))
