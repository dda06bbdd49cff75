"""Events and reasons as their reader may see them: jobs of other projects are not named."""

from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.orm import load_only

from nova_twotier.core.reasons import Reason
from nova_twotier.db.models import Event, Job
from nova_twotier.db.store import Store


def rfc3339(seconds: float) -> str:
    """A time, given in seconds since the epoch, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def instant(seconds: float) -> str:
    """A time to the second, for sentences: `2026-11-25T03:10:29Z`."""
    return f"{rfc3339(seconds)[:19]}Z"


class Reader:
    """Renders reasons for one project.

    :param project_id: the reader's project; None for a reader who sees all projects.
    :param reasons: all that are to be rendered, so that one database query is enough.
    """

    def __init__(self, store: Store, project_id: str | None, reasons: Iterable[Reason | None]):
        self._project_id = project_id
        numbers = (each.by for each in reasons if each is not None and each.by is not None)
        self._jobs = numbered(store, numbers)

    def text(self, reason: Reason | None) -> str:
        return "" if reason is None else reason.text(self._name)

    def data(self, reason: Reason | None) -> dict | None:
        """For programs."""
        if reason is None:
            return None
        by = None if reason.by is None else self._visible(reason.by)
        return {
            "code": reason.code.name,
            "parameters": dict(reason.parameters),
            "by": by and by.uuid,
            "by_number": by and by.number,
            "effect": reason.effect,
            "text": self.text(reason),
        }

    def event(self, event: Event) -> dict:
        """An event without its job, for programs and people."""
        return {
            "at": rfc3339(event.at),
            "kind": event.kind,
            "detail": self.text(event.reason) if event.reason else event.detail,
            "why": self.data(event.reason),
            "asked_by": self._asker(event),
        }

    def _asker(self, event: Event) -> dict | None:
        """The user who asked for an event; both ids are None if the reader may not know which."""
        if event.user_id is None:
            return None
        known = self._project_id in (None, event.user_project_id)
        return {
            "user_id": event.user_id if known else None,
            "project_id": event.user_project_id if known else None,
        }

    def _visible(self, number: int) -> Job | None:
        """A job that the reader may know of."""
        job = self._jobs.get(number)
        return job if job and self._project_id in (None, job.project_id) else None

    def _name(self, number: int) -> str:
        if job := self._visible(number):
            return f"job {job.label}"
        if number in self._jobs:
            return "a job of another project"
        # Nobody knows any more whose it was, so only operators may see its number.
        if self._project_id is None:
            return f"job {number}, which is no longer recorded"
        return "a job that is no longer recorded"


def numbered(store: Store, numbers: Iterable[int]) -> dict[int, Job]:
    """Number, uuid, name and project of the jobs with these numbers that exist."""
    wanted = sorted(set(numbers))
    if not wanted:
        return {}
    with store.reading() as session:
        query = select(Job).where(Job.number.in_(wanted))
        query = query.options(
            load_only(
                Job.uuid, Job.name, Job.project_id, Job.array, Job.array_index, raiseload=True
            )
        )
        return {job.number: job for job in session.scalars(query)}
