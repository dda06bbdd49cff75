"""How many jobs have ended, so that nobody counts the whole history."""

import sqlalchemy as sa
from alembic import op

from nova_twotier.db.migrations.steps import create_table

revision = "0027"
down_revision = "0026"

_KEY = (("pool", 255), ("project_id", 64), ("state", 16))
_OVER = ("finished", "failed", "cancelled")


def upgrade():
    create_table(
        "ended_jobs",
        *(sa.Column(name, sa.String(length), primary_key=True) for name, length in _KEY),
        sa.Column("jobs", sa.BigInteger, nullable=False),
        sa.Column("processes", sa.BigInteger, nullable=False),
    )
    names = [name for name, _length in _KEY]
    job = sa.table("job", *map(sa.column, (*names, "size")))
    ended = sa.table("ended_jobs", *map(sa.column, (*names, "jobs", "processes")))
    key = [job.c[name] for name in names]
    counted = sa.select(*key, sa.func.count(), sa.func.sum(job.c.size))
    counted = counted.where(job.c.state.in_(_OVER)).group_by(*key)
    # It may have been broken off after this.
    op.execute(sa.delete(ended))
    op.execute(sa.insert(ended).from_select([*names, "jobs", "processes"], counted))
