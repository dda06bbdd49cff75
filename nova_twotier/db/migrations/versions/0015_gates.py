"""Jobs may begin at a time or after others, and have a priority in their project."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column

revision = "0015"
down_revision = "0014"


def upgrade():
    add_column("job", sa.Column("begin_at", sa.Double))
    add_column("job", sa.Column("dependencies", sa.JSON))
    add_column("job", sa.Column("gated", sa.Boolean, nullable=False, server_default=sa.false()))
    add_column("job", sa.Column("priority", sa.Integer, nullable=False, server_default="0"))
    add_column("job", sa.Column("own_place", sa.Double))
