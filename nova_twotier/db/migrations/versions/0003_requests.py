"""Jobs say what they boot and how they may be preempted; queues can be paused; places are kept."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

MYSQL = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
}


def upgrade():
    for column in (
        sa.Column("pool", sa.String(255), nullable=False, server_default="default"),
        sa.Column("flavor", sa.String(255)),
        sa.Column("image", sa.String(36)),
        sa.Column("networks", sa.JSON),
        sa.Column("key_name", sa.String(255)),
        sa.Column("user_data", sa.Text),
        sa.Column("keep_servers", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("bandwidth", sa.Double, nullable=False, server_default="0"),
        sa.Column("preemption", sa.String(16), nullable=False, server_default="shelve"),
        sa.Column("checkpoint", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("walltime", sa.Double),
        sa.Column("retries", sa.Integer, nullable=False, server_default="0"),
        sa.Column("requeues", sa.Integer, nullable=False, server_default="0"),
        sa.Column("run_since", sa.Double),
        sa.Column("run_before", sa.Double, nullable=False, server_default="0"),
        sa.Column("warned_at", sa.Double),
        sa.Column("swapped_at", sa.Double),
        sa.Column("trust_id", sa.String(64)),
    ):
        op.add_column("job", column)
    op.create_index("ix_job_pool", "job", ["pool"])
    op.create_index("ix_event_at", "event", ["at"])
    op.create_table(
        "queue",
        sa.Column("pool", sa.String(255), primary_key=True),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("changed_at", sa.Double, nullable=False),
        **MYSQL,
    )
    op.add_column(
        "action", sa.Column("pool", sa.String(255), nullable=False, server_default="default")
    )
    op.create_table(
        "leader",
        sa.Column("pool", sa.String(255), primary_key=True),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("term", sa.Integer, nullable=False),
        sa.Column("since", sa.Double, nullable=False),
        **MYSQL,
    )
    op.create_table(
        "place",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("job", sa.Integer, sa.ForeignKey("job.number"), nullable=False, index=True),
        sa.Column("process", sa.Integer, nullable=False),
        sa.Column("server", sa.String(36), nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("tier", sa.String(2), nullable=False),
        sa.Column("since", sa.Double, nullable=False),
        sa.Column("until", sa.Double, index=True),
        **MYSQL,
    )
