"""Events say which user asked for what they record."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column

revision = "0031"
down_revision = "0030"


def upgrade():
    add_column("event", sa.Column("user_id", sa.String(64), nullable=True))
    add_column("event", sa.Column("user_project_id", sa.String(64), nullable=True))
