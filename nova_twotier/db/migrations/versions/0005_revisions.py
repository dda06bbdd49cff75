"""Jobs have revisions, so that a cache of jobs sees which of them have changed."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade():
    op.add_column("job", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))
