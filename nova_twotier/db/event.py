"""The tables of what happened, and of those who are still to be told of it."""

from typing import NamedTuple
from urllib.parse import urlsplit

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship

from nova_twotier.db.base import Base
from nova_twotier.db.reasoned import Reasoned

#: The route of deliveries to the operator's message bus.
BUS = "bus"
#: By this, `Session.info` has the `User` for whom a session works, if there is one.
USER = "user"


def origin_of(webhook: str) -> str:
    """The scheme, host and port of a URL."""
    url = urlsplit(webhook)
    # In lower case, and with the port as a number: one receiver has one origin.
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
    return f"{url.scheme}://{host}" + (f":{url.port}" if url.port else "")


class User(NamedTuple):
    """A user who asks for something; the fields are named like the columns of `Event`.

    :ivar user_project_id: of the token; empty if the token is scoped to the whole system.
    """

    user_id: str
    user_project_id: str


class Event(Reasoned, Base):
    """Something that happened to a job, for its owner and for the records; its reason says why."""

    __tablename__ = "event"

    #: Assigned before the transaction ends: of two concurrent events, the higher may show first.
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[float] = mapped_column(index=True)
    job: Mapped[int | None] = mapped_column(ForeignKey("job.number"), index=True)
    kind: Mapped[str] = mapped_column(String(32))
    #: Of events without a reason: a text that names no job.
    detail: Mapped[str] = mapped_column(Text, default="")
    #: Who asked for it through the API, and in which project; None: it came about otherwise.
    user_id: Mapped[str | None] = mapped_column(String(64))
    user_project_id: Mapped[str | None] = mapped_column(String(64))

    deliveries: Mapped[list["Delivery"]] = relationship(lazy="raise")


class Delivery(Base):
    """An event that somebody is still to be told of, see `deliveries`."""

    __tablename__ = "delivery"

    id: Mapped[int] = mapped_column(primary_key=True)
    event: Mapped[int] = mapped_column(ForeignKey("event.id"), index=True)
    #: The project with the origin of the job's webhook, or `BUS`.
    route: Mapped[str] = mapped_column(String(400))
    #: When it is tried, or tried again.
    due_at: Mapped[float] = mapped_column(index=True)
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    #: Why the last attempt failed.
    error: Mapped[str] = mapped_column(String(255), default="", server_default="")


def sign(session: Session, *_flush: object) -> None:
    """Note in new events for which user the session works; called before they are written."""
    if user := session.info.get(USER):
        for row in session.new:
            if isinstance(row, Event):
                row.user_id, row.user_project_id = user
