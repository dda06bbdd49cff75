"""Jobs have owners, and can be held."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.add_column("job", sa.Column("project_id", sa.String(64), nullable=False, server_default=""))
    op.add_column("job", sa.Column("user_id", sa.String(64), nullable=False, server_default=""))
    op.add_column("job", sa.Column("held", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_index("ix_job_project_id", "job", ["project_id"])
