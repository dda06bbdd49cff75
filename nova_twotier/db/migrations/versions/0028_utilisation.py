"""How full pools were and how long their queues, by minute, ten minutes and hour."""

import sqlalchemy as sa

from nova_twotier.db.migrations.steps import create_table

revision = "0028"
down_revision = "0027"

_TIERS = tuple(f"{tier}_{what}" for tier in ("fg", "bg") for what in ("slots", "used", "free"))
_QUEUE = tuple(
    f"{phase}_{what}" for what in ("jobs", "processes") for phase in ("waiting", "running")
)
_MOST = ("fg_used", "bg_used", "waiting_jobs", "waiting_processes")


def upgrade():
    create_table(
        "utilisation",
        sa.Column("step", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("pool", sa.String(255), primary_key=True),
        sa.Column("samples", sa.Integer, nullable=False),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in (*_TIERS, *_QUEUE)),
        *(sa.Column(f"most_{name}", sa.Integer, nullable=False) for name in _MOST),
        sa.Column("lost", sa.Double, nullable=False),
    )
