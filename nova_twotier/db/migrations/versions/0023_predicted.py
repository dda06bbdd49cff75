"""The run times of jobs that name none may be predicted from similar finished jobs."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column

revision = "0023"
down_revision = "0022"


def upgrade():
    add_column("job", sa.Column("predicted", sa.Double))
    add_column("job", sa.Column("predicted_from", sa.Integer))
