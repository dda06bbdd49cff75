"""Jobs wait their turn from their release on, and leaders say when they last wrote."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade():
    op.add_column("leader", sa.Column("renewed_at", sa.Double))
    op.add_column("job", sa.Column("eligible_at", sa.Double, nullable=False, server_default="0"))
    job = sa.table("job", sa.column("eligible_at"), sa.column("submitted_at"))
    op.execute(job.update().values(eligible_at=job.c.submitted_at))
