"""Databases of our own on the MariaDB or PostgreSQL of this machine."""

import contextlib
import uuid
from collections.abc import Iterator, Set
from dataclasses import dataclass

from sqlalchemy import URL, create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from nova_twotier.db import migration
from nova_twotier.db.connection import connect
from nova_twotier.tools.replay.errors import ReplayError

#: Their usual addresses, for users that need no password.
USUAL = (
    "mysql+pymysql://root@127.0.0.1:3306/",
    "postgresql+psycopg://postgres@127.0.0.1:5432/postgres",
)
PORTS = {"mysql": 3306, "postgresql": 5432}


@dataclass(frozen=True)
class Database:
    """An empty queue on a server; `admin` is the server's own address."""

    admin: URL
    name: str

    @property
    def host(self) -> str:
        return self.admin.host

    @property
    def port(self) -> int:
        return self.admin.port or PORTS[self.admin.get_backend_name()]

    def url(self, port: int | None = None) -> str:
        """Its address, or that behind a gate at `port` of this machine."""
        url = self.admin.set(database=self.name)
        if port is not None:
            url = url.set(host="127.0.0.1", port=port)
        return url.render_as_string(hide_password=False)

    def cut(self, ports: Set[int]) -> int:
        """End the connections from these ports, on the server's side; returns their number."""
        if self.admin.get_backend_name() == "postgresql":
            found = "SELECT pid, client_port FROM pg_stat_activity WHERE client_port > 0"
            end = "SELECT pg_terminate_backend({})"
        else:
            found = (
                "SELECT id, SUBSTRING_INDEX(host, ':', -1) FROM information_schema.processlist "
                "WHERE host LIKE '%:%'"
            )
            end = "KILL {}"
        with _connected(self.admin) as connection:
            sessions = connection.execute(text(found)).all()
            ours = [int(number) for number, port in sessions if int(port) in ports]
            for number in ours:
                connection.execute(text(end.format(number)))
        return len(ours)


@contextlib.contextmanager
def database(url: str | None) -> Iterator[Database]:
    """A new database with the newest schema, which is dropped afterwards.

    :param url: of the server, see `answering`.
    :raises ReplayError: if none can be made.
    """
    admin = answering(url)
    made = Database(admin, f"twotier_faults_{uuid.uuid4().hex}")
    with _connected(admin) as connection:
        connection.execute(text(f"CREATE DATABASE {made.name}"))
    try:
        engine = connect(made.url())
        migration.upgrade(engine)
        engine.dispose()
        yield made
    finally:
        # A connection whose client was killed may be there still.
        force = " WITH (FORCE)" if admin.get_backend_name() == "postgresql" else ""
        with _connected(admin) as connection:
            connection.execute(text(f"DROP DATABASE {made.name}{force}"))


def answering(url: str | None) -> URL:
    """The address of a server; by default that of the first of `USUAL` that answers.

    :raises ReplayError: if none does.
    """
    reasons = []
    for each in (url,) if url else USUAL:
        try:
            admin = make_url(each)
            with _connected(admin) as connection:
                connection.execute(text("SELECT 1"))
            return admin
        except (SQLAlchemyError, ImportError) as error:
            reasons.append(str(error).splitlines()[0])
    raise ReplayError(
        f"no database server answers ({'; '.join(reasons)}); name one with --database-url"
    )


@contextlib.contextmanager
def _connected(admin: URL):
    engine = create_engine(admin, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()
