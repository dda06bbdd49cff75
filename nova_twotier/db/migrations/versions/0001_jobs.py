"""Jobs, actions and events: the schema of the first release.

That release made its tables without a version, and with VARCHAR for TEXT, which SQLite and
PostgreSQL store alike.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

MYSQL = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
}


def upgrade():
    op.create_table(
        "job",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("uuid", sa.String(36), nullable=False, unique=True),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("cpu", sa.JSON, nullable=False),
        sa.Column("estimate", sa.Double),
        sa.Column("submitted_at", sa.Double, nullable=False),
        sa.Column("state", sa.String(16), nullable=False, index=True),
        sa.Column("tier", sa.String(2)),
        sa.Column("saved", sa.Boolean, nullable=False),
        sa.Column("how", sa.String(16)),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("wish", sa.String(16)),
        sa.Column("started_at", sa.Double),
        sa.Column("finished_at", sa.Double),
        sa.Column("not_before", sa.Double, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("evictions", sa.Integer, nullable=False),
        sa.Column("restores", sa.Integer, nullable=False),
        sa.Column("swaps", sa.Integer, nullable=False),
        sa.Column("migrations", sa.Integer, nullable=False),
        **MYSQL,
    )
    op.create_table(
        "action",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("phase", sa.Integer, nullable=False),
        sa.Column("job", sa.Integer, sa.ForeignKey("job.number"), index=True),
        sa.Column("plan", sa.JSON, nullable=False),
        sa.Column("begun", sa.JSON, nullable=False),
        sa.Column("begun_at", sa.Double),
        sa.Column("state", sa.String(16), nullable=False, index=True),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("closed_at", sa.Double),
        **MYSQL,
    )
    op.create_table(
        "event",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("job", sa.Integer, sa.ForeignKey("job.number"), index=True),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        **MYSQL,
    )
