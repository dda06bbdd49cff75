"""Guests report how their scripts ended, if their job has a token for that."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column

revision = "0009"
down_revision = "0008"


def upgrade():
    add_column("job", sa.Column("report_token", sa.String(64)))
    add_column("job", sa.Column("exit_status", sa.Integer))
