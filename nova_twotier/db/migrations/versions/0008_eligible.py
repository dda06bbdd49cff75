"""Jobs wait their turn from their release on, leaders say when they last wrote; jobs' servers."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


MYSQL = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
}


def upgrade():
    op.add_column("leader", sa.Column("renewed_at", sa.Double))
    op.add_column("job", sa.Column("eligible_at", sa.Double, nullable=False, server_default="0"))
    job = sa.table("job", sa.column("eligible_at"), sa.column("submitted_at"))
    op.execute(job.update().values(eligible_at=job.c.submitted_at))
    op.create_table(
        "server",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("job", sa.Integer, sa.ForeignKey("job.number"), nullable=False, index=True),
        **MYSQL,
    )
