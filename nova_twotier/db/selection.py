"""Selects jobs by what is known of them, for lists and for requests about many jobs."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, or_

from nova_twotier.db.models import Job
from nova_twotier.db.states import OVER

#: The wildcards of a pattern, and what means something in LIKE, as LIKE has them.
_LIKE = str.maketrans({"*": "%", "?": "_", "%": "/%", "_": "/_", "/": "//"})


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Jobs that match everything that is given.

    :param states: in one of these states.
    :param classes: in one of these classes of service.
    :param active: that are not over (True), or that are (False).
    :param since: that are not over, or ended at this time or later, in seconds since the epoch.
    :param name_pattern: `*` stands for any characters, `?` for one.
    """

    uuids: Collection[str] | None = None
    project_id: str | None = None
    user_id: str | None = None
    states: Collection[str] | None = None
    classes: Collection[str] | None = None
    active: bool | None = None
    since: float | None = None
    name: str | None = None
    name_pattern: str | None = None
    pool: str | None = None
    array: int | None = None

    def of(self, query: Select, dialect: str) -> Select:
        """The query of jobs, restricted to these.

        :param dialect: SQLAlchemy's name of the database's.
        """
        for column, value in (
            (Job.project_id, self.project_id),
            (Job.user_id, self.user_id),
            (Job.name, self.name),
            (Job.pool, self.pool),
            (Job.array, self.array),
        ):
            if value is not None:
                query = query.where(column == value)
        for column, values in (
            (Job.uuid, self.uuids),
            (Job.state, self.states),
            (Job.qos, self.classes),
        ):
            if values is not None:
                query = query.where(column.in_(values))
        if self.active is not None:
            query = query.where(Job.state.not_in(OVER) if self.active else Job.state.in_(OVER))
        if self.since is not None:
            query = query.where(or_(Job.state.not_in(OVER), Job.finished_at >= self.since))
        if self.name_pattern is not None:
            query = query.where(_matches(self.name_pattern, dialect))
        return query


#: All jobs.
EVERY_JOB = Selection()


def _matches(pattern: str, dialect: str) -> ColumnElement[bool]:
    """Whether a job's name matches; upper and lower case differ."""
    if dialect == "sqlite":
        # Its LIKE ignores the case of ASCII letters. GLOB also has sets of characters, in brackets.
        return Job.name.op("GLOB")(pattern.replace("[", "[[]"))
    return Job.name.like(pattern.translate(_LIKE), escape="/")
