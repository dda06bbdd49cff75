"""The time until which a job's work was discarded, and the sums of the jobs that were purged.

What was lost before is in the events: of every job that was killed or began anew.
"""

import sqlalchemy as sa
from alembic import op

from nova_twotier.db.migrations.steps import add_column, add_index, create_table

revision = "0017"
down_revision = "0016"

_JOB = sa.table("job", sa.column("number", sa.Integer), sa.column("discarded_at", sa.Double))
_EVENT = sa.table(
    "event", sa.column("job", sa.Integer), sa.column("at", sa.Double), sa.column("kind", sa.String)
)


def upgrade():
    add_column("job", sa.Column("discarded_at", sa.Double))
    for column in ("started_at", "finished_at"):
        add_index("job", column)
    create_table(
        "usage_day",
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        *(
            sa.Column(name, sa.String(length), primary_key=True)
            for name, length in (("project_id", 64), ("user_id", 64), ("pool", 255))
        ),
        *(
            sa.Column(name, sa.Double, nullable=False)
            for name in ("foreground", "background", "lost")
        ),
        *(sa.Column(name, sa.Integer, nullable=False) for name in ("started", "ended")),
    )
    discarded = (
        sa.select(_EVENT.c.job, sa.func.max(_EVENT.c.at).label("at"))
        .where(_EVENT.c.kind.in_(("killed", "queued")), _EVENT.c.job.is_not(None))
        .group_by(_EVENT.c.job)
    )
    values = [{"row": row.job, "at": row.at} for row in op.get_bind().execute(discarded)]
    if values:
        change = sa.update(_JOB).where(_JOB.c.number == sa.bindparam("row"))
        op.get_bind().execute(change.values(discarded_at=sa.bindparam("at")), values)
