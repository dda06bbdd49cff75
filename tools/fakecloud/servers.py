"""The servers that a full cloud shares with others: RabbitMQ and MariaDB."""

from urllib import parse

import sqlalchemy

from nova_twotier.tools.fakecloud import schemas
from nova_twotier.tools.fakecloud.errors import FakeCloudError


def transport_url(url: str) -> str:
    """The URL as oslo.messaging wants it; most others write amqp:// for the same server."""
    scheme, separator, rest = url.partition("://")
    if scheme not in ("rabbit", "amqp") or not separator:
        raise FakeCloudError(
            f"--transport-url must be rabbit://user:password@host:port/, not {url}"
        )
    return f"rabbit://{rest}"


def check_broker(url: str) -> None:
    import amqp

    parts = parse.urlsplit(transport_url(url))
    address = f"{parts.hostname}:{parts.port or 5672}"
    try:
        connection = amqp.Connection(
            address,
            userid=parse.unquote(parts.username or "guest"),
            password=parse.unquote(parts.password or "guest"),
            virtual_host=parse.unquote(parts.path.strip("/")) or "/",
            connect_timeout=5,
        )
        connection.connect()
        connection.close()
    except (OSError, amqp.AMQPError) as error:
        raise FakeCloudError(
            f"RabbitMQ does not answer at {address} ({_reason(error)}); "
            f"start it or give --transport-url"
        ) from error


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


class Databases:
    """The databases of one cloud on a server, all with one prefix."""

    def __init__(self, server_url: str, prefix: str):
        try:
            self._server = sqlalchemy.make_url(server_url)
        except sqlalchemy.exc.ArgumentError as error:
            raise FakeCloudError(f"--database-url is not a URL: {server_url}") from error
        if self._server.get_backend_name() not in ("mysql", "mariadb"):
            raise FakeCloudError("--database-url must be mysql+pymysql://user:password@host:port/")
        self.prefix = prefix

    def url(self, name: str) -> str:
        return (
            self._server.set(database=f"{self.prefix}_{name}")
            .update_query_dict({"charset": "utf8mb4"})
            .render_as_string(hide_password=False)
        )

    def check(self) -> None:
        self._run([sqlalchemy.text("SELECT 1")])

    def create(self, databases: dict[str, str]) -> None:
        """Make each database (name: schema) from the cached statements."""
        self._run(
            [
                sqlalchemy.text(f"CREATE DATABASE `{self.prefix}_{name}` CHARACTER SET utf8mb4")
                for name in databases
            ]
        )
        for name, schema in databases.items():
            schemas.load_mysql(schema, self.url(name))

    def drop(self) -> None:
        found = self._run([sqlalchemy.text("SHOW DATABASES")])
        self._run(
            [
                sqlalchemy.text(f"DROP DATABASE `{name}`")
                for name in found
                if name.startswith(f"{self.prefix}_")
            ]
        )

    def _engine(self):
        return sqlalchemy.create_engine(
            self._server.set(database=None),
            poolclass=sqlalchemy.NullPool,
            connect_args={"connect_timeout": 5},
        )

    def _run(self, statements) -> list:
        """Execute the statements; the first column of what the last one returns."""
        try:
            with self._engine().begin() as connection:
                results = [connection.execute(statement) for statement in statements]
                return results[-1].scalars().all() if results and results[-1].returns_rows else []
        except sqlalchemy.exc.OperationalError as error:
            raise FakeCloudError(
                f"the database server does not answer at {self._server.host}:"
                f"{self._server.port or 3306} ({_reason(error.orig)}); "
                f"start it or give another --database-url"
            ) from error
        except ModuleNotFoundError as error:
            raise FakeCloudError(
                f'{error.name} is not installed; install nova-twotier with its "full" extra'
            ) from error


def discard(what: dict, progress) -> None:
    """Remove what a cloud left on a database server, when the server lets us."""
    if not what.get("database_url"):
        return
    try:
        Databases(what["database_url"], what["prefix"]).drop()
    except (FakeCloudError, sqlalchemy.exc.SQLAlchemyError) as error:
        progress(f"databases {what['prefix']}_* were not removed: {error}")
