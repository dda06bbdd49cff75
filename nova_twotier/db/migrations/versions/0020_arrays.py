"""Job arrays: many tasks of one request, each a job, with one record and one trust."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import add_column, add_index, create_table

revision = "0020"
down_revision = "0019"


def upgrade():
    create_table(
        "array",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("uuid", sa.String(36), nullable=False, unique=True),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(64), nullable=False),
        sa.Column("pool", sa.String(255), nullable=False),
        sa.Column("indexes", sa.Text, nullable=False),
        sa.Column("most_at_once", sa.Integer),
        sa.Column("user_data", sa.Text),
        sa.Column("trust_id", sa.String(64)),
        sa.Column("submitted_at", sa.Double, nullable=False),
        sa.Column("finished_at", sa.Double),
    )
    add_column("job", sa.Column("array", sa.Integer))
    add_column("job", sa.Column("array_index", sa.Integer))
    add_column("job", sa.Column("array_span", sa.JSON))
    add_index("job", "array")
    tasks = sa.Column("tasks", sa.Integer, nullable=False, server_default="1")
    add_column("submission", tasks)
