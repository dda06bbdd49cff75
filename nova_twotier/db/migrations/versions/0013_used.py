"""What jobs used over their whole run, from which later ones of their kind learn."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column

revision = "0013"
down_revision = "0012"


def upgrade():
    add_column("job", sa.Column("used", sa.JSON))
    add_column("job", sa.Column("used_until", sa.Double, nullable=False, server_default="0"))
