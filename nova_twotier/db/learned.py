"""What earlier jobs of a kind have shown of the CPU utilisation of their processes."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState

#: Jobs among which one of the same kind is looked for.
NEWEST = 300


def learned(session: Session, job: Job) -> list[float] | None:
    """CPU utilisation 0..1 of each process of a new job, from the last finished one of its kind.

    It is the mean over that job's run. A kind is an owner, a name, a flavor and an image; jobs
    without a name are of no kind. Only the `NEWEST` ended jobs of owner and name are looked at,
    because all other writers of a SQLite database have to wait. If the sizes differ, each process
    counts as the mean.

    :returns: None if nothing was measured of the kind.
    """
    if not job.name:
        return None
    shown = Job.number, Job.finished_at, Job.state, Job.flavor, Job.image
    query = select(*shown).where(Job.finished_at.is_not(None))
    # In the order of the index. PostgreSQL uses none for columns that are compared like the others.
    for column in (Job.project_id, Job.user_id, Job.name):
        query = query.where(column == getattr(job, column.key))
    newest = query.order_by(Job.finished_at.desc()).limit(NEWEST).subquery()
    kind = select(newest.c.number).where(newest.c.state == JobState.FINISHED)
    for key in ("flavor", "image"):
        kind = kind.where(newest.c[key].is_not_distinct_from(getattr(job, key)))
    kind = kind.order_by(newest.c.finished_at.desc()).limit(1)
    last = session.scalar(select(Job).where(Job.number == kind.scalar_subquery()))
    if last is None or not (last.measured or last.learned):
        return None
    mean = last.mean_profile
    if last.size == job.size:
        return list(mean)
    return [sum(mean) / last.size] * job.size
