"""Jobs that are being submitted are recorded; those that are over lose their user data."""

import sqlalchemy as sa
from alembic import op

from nova_twotier.db.migrations.steps import create_table

revision = "0007"
down_revision = "0006"


def upgrade():
    create_table(
        "submission",
        sa.Column("uuid", sa.String(36), primary_key=True),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("since", sa.Double, nullable=False),
        sa.Column("abandoned", sa.Boolean, nullable=False),
        indexed="project_id",
    )
    op.execute("UPDATE job SET user_data = NULL WHERE state IN ('finished', 'failed', 'cancelled')")
