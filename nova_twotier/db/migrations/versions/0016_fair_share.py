"""Where fair share puts a job in the queue."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column

revision = "0016"
down_revision = "0015"


def upgrade():
    add_column("job", sa.Column("queue_offset", sa.Double))
