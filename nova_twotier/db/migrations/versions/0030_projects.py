"""A row of each project, which whoever counts its jobs against its quotas changes first."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import create_table

revision = "0030"
down_revision = "0029"


def upgrade():
    create_table(
        "project",
        sa.Column("project_id", sa.String(64), primary_key=True),
        sa.Column("submissions", sa.BigInteger, nullable=False),
    )
