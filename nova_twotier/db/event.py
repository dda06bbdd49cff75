"""The tables of what happened, and of those who are still to be told of it."""

from urllib.parse import urlsplit

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from nova_twotier.db.base import Base
from nova_twotier.db.reasoned import Reasoned

#: The route of deliveries to the operator's message bus.
BUS = "bus"


def origin_of(webhook: str) -> str:
    """The scheme, host and port of a URL."""
    url = urlsplit(webhook)
    # In lower case, and with the port as a number: one receiver has one origin.
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
    return f"{url.scheme}://{host}" + (f":{url.port}" if url.port else "")


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
