"""Jobs whose operations are refused wait longer each time."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade():
    op.add_column("job", sa.Column("setbacks", sa.Integer, nullable=False, server_default="0"))
