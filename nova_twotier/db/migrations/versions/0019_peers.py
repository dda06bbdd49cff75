"""Jobs may ask that their guests are told who they are, and count how often they have started."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column

revision = "0019"
down_revision = "0018"


def upgrade():
    peers = sa.Column("peers", sa.Boolean, nullable=False, server_default=sa.false())
    add_column("job", peers)
    add_column("job", sa.Column("runs", sa.Integer, nullable=False, server_default="0"))
