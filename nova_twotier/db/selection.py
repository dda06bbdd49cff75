"""Selects jobs by what is known of them, for lists and for requests about many jobs."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, or_

from nova_twotier.db.job_counts import not_by_index
from nova_twotier.db.models import Job
from nova_twotier.db.states import OPEN

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
        # Few jobs are not over: they are found by their states. Others are read in the order of
        # the list, of which a page is wanted: an index on anything else would find too many.
        few = self._only_open
        if self.pool is not None:
            query = query.where(not_by_index(Job.pool) == self.pool)
        if self.project_id is not None:
            project = not_by_index(Job.project_id) if few else Job.project_id
            query = query.where(project == self.project_id)
        if self.states is not None:
            state = Job.state if few else not_by_index(Job.state)
            query = query.where(state.in_(self.states))
        for column, value in (
            (Job.user_id, self.user_id),
            (Job.name, self.name),
            (Job.array, self.array),
        ):
            if value is not None:
                query = query.where(column == value)
        for column, values in ((Job.uuid, self.uuids), (Job.qos, self.classes)):
            if values is not None:
                query = query.where(column.in_(values))
        if self.active is not None:
            query = query.where(Job.state.in_(OPEN) if self.active else Job.state.not_in(OPEN))
        if self.since is not None:
            query = query.where(or_(Job.state.in_(OPEN), Job.finished_at >= self.since))
        if self.name is not None and dialect == "mysql":
            # It compares texts as if they had the same number of blanks at their ends.
            query = query.where(func.char_length(Job.name) == len(self.name))
        if self.name_pattern is not None:
            query = query.where(_matches(self.name_pattern, dialect))
        return query

    @property
    def _only_open(self) -> bool:
        """Whether no job that is over can be one of them."""
        return bool(self.active) or (self.states is not None and set(self.states) <= set(OPEN))


#: All jobs.
EVERY_JOB = Selection()


def _matches(pattern: str, dialect: str) -> ColumnElement[bool]:
    """Whether a job's name matches; upper and lower case differ."""
    if dialect == "sqlite":
        # Its LIKE ignores the case of ASCII letters. GLOB also has sets of characters, in brackets.
        return Job.name.op("GLOB")(pattern.replace("[", "[[]"))
    return Job.name.like(pattern.translate(_LIKE), escape="/")
