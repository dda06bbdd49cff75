"""Jobs that are being submitted are recorded; those that are over lose their user data."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

MYSQL = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
}


def upgrade():
    op.create_table(
        "submission",
        sa.Column("uuid", sa.String(36), primary_key=True),
        sa.Column("project_id", sa.String(64), nullable=False, index=True),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("since", sa.Double, nullable=False),
        sa.Column("abandoned", sa.Boolean, nullable=False),
        **MYSQL,
    )
    op.execute("UPDATE job SET user_data = NULL WHERE state IN ('finished', 'failed', 'cancelled')")
