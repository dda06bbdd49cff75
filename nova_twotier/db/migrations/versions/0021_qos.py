"""Classes of service of jobs."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column

revision = "0021"
down_revision = "0020"


def upgrade():
    add_column("job", sa.Column("qos", sa.String(16), nullable=False, server_default="normal"))
