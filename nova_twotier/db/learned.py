"""What earlier jobs of a kind have shown of the CPU utilisation of their processes."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState


def learned(session: Session, job: Job) -> list[float] | None:
    """CPU utilisation 0..1 of each process of a new job, from the last finished one of its kind.

    It is the mean over that job's run. A kind is an owner, a name, a flavor and an image; jobs
    without a name are of no kind. If the sizes differ, each process counts as the mean.

    :returns: None if nothing was measured of the kind.
    """
    if not job.name:
        return None
    query = select(Job).where(Job.state == JobState.FINISHED)
    # In the order of the index. PostgreSQL uses none for columns that are compared like the others.
    for column in (Job.project_id, Job.user_id, Job.name):
        query = query.where(column == getattr(job, column.key))
    for other in (Job.flavor, Job.image):
        query = query.where(other.is_not_distinct_from(getattr(job, other.key)))
    last = session.scalars(query.order_by(Job.finished_at.desc()).limit(1)).first()
    if last is None or not (last.measured or last.learned):
        return None
    mean = last.mean_profile
    if last.size == job.size:
        return list(mean)
    return [sum(mean) / last.size] * job.size
