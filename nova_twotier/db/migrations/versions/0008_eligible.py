"""Jobs wait their turn from their release on, leaders say when they last wrote; jobs' servers."""

import sqlalchemy as sa
from alembic import op

from nova_twotier.db.migrations.steps import add_column, create_table

revision = "0008"
down_revision = "0007"


def upgrade():
    add_column("leader", sa.Column("renewed_at", sa.Double))
    add_column("job", sa.Column("eligible_at", sa.Double, nullable=False, server_default="0"))
    job = sa.table("job", sa.column("eligible_at"), sa.column("submitted_at"))
    op.execute(job.update().values(eligible_at=job.c.submitted_at))
    create_table(
        "server",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("job", sa.Integer, sa.ForeignKey("job.number"), nullable=False),
        indexed="job",
    )
