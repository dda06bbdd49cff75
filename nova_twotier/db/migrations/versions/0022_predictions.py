"""When jobs start and end, as the manager predicts it, and how right it was."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import create_table

revision = "0022"
down_revision = "0021"

_TIMES = ("start", "start_low", "start_high", "finish", "finish_low", "finish_high")


def upgrade():
    create_table(
        "prediction",
        sa.Column("job", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("made_at", sa.Double, nullable=False),
        *(sa.Column(name, sa.Double) for name in _TIMES),
        sa.Column("starts_after", sa.Integer),
        sa.Column("smaller", sa.Integer),
        sa.Column("work", sa.Double, nullable=False),
        sa.Column("ran", sa.Double, nullable=False),
        *(sa.Column(f"first_{name}", sa.Double) for name in ("made_at", *_TIMES)),
        sa.Column("judged", sa.Integer, nullable=False),
        indexed="judged",
    )
    create_table(
        "pool_prediction",
        sa.Column("pool", sa.String(255), primary_key=True),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.Column("valid_until", sa.Double, nullable=False),
        sa.Column("later_than", sa.Double),
        sa.Column("estimator", sa.String(64), nullable=False),
        sa.Column("calibration", sa.JSON, nullable=False),
    )
