"""Guests report how their scripts ended, if their job has a token for that."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade():
    op.add_column("job", sa.Column("report_token", sa.String(64)))
    op.add_column("job", sa.Column("exit_status", sa.Integer))
