"""Connections to the database: SQLite, MariaDB or MySQL, PostgreSQL."""

import contextlib
import pathlib
import sqlite3
import time
from collections.abc import Iterator

from oslo_db.exception import DBError
from oslo_db.sqlalchemy import engines, exc_filters
from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from nova_twotier.conf import database

#: Seconds that a connection to SQLite waits for one that writes.
BUSY = 60
#: The packages of drivers, by the modules that are missing without them.
DRIVERS = {"psycopg": "'psycopg[binary]'", "psycopg2": "psycopg2-binary", "pymysql": "PyMySQL"}
#: Execution option of connections that only read.
READING = {"reading": True}

#: Errors raised when a database does not answer, or refuses.
DATABASE_ERRORS = (DBError, SQLAlchemyError)


class StoreError(Exception):
    """The database cannot be used; the message says which and why."""


def connect(url: str, **options) -> Engine:
    """An engine for the database. It raises oslo.db's exceptions, whatever the database.

    :param options: those of oslo.db's `create_engine`. SQLite has no use for them.
    :raises StoreError: if it does not answer, or refuses.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise StoreError(
            "option [database]connection is not a URL; give one such as "
            "mysql+pymysql://USER:PASSWORD@HOST/DATABASE"
        ) from error
    with translated_errors(parsed):
        sqlite = parsed.get_backend_name() == "sqlite"
        engine = _sqlite(parsed) if sqlite else _server(parsed, options)
    # User data may hold secrets: keep statement parameters out of errors, which libraries log.
    engine.hide_parameters = True
    return engine


def server_options(conf, **changes) -> dict:
    """Options of group `[database]` for `connect`, with changes."""
    return {**{name: conf.database[name] for name in database.SERVER}, **changes}


@contextlib.contextmanager
def translated_errors(url: URL) -> Iterator[None]:
    """Turn errors of the database into one line that names it, without its password.

    :raises StoreError: for each `DATABASE_ERRORS` raised within.
    """
    try:
        yield
    except (*DATABASE_ERRORS, OSError, ImportError) as error:
        reason = f"{str(error).splitlines()[0]}{_cure(error)}"
        raise StoreError(f"database {named(url)} cannot be opened: {reason}") from error


def _cure(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f": pip install {DRIVERS.get(error.name, error.name)}"
    if "readonly database" in str(error):
        return ": run it as the owner of the file"
    return ""


def named(url: URL) -> str:
    """The database's URL without its password, for messages."""
    return url.render_as_string(hide_password=True)


def _server(url: URL, options: dict) -> Engine:
    if url.get_backend_name() == "mysql" and "charset" not in url.query:
        # Otherwise oslo.db selects a charset without characters of four bytes.
        url = url.update_query_dict({"charset": "utf8mb4"})
    engine = engines.create_engine(url, **{"mysql_sql_mode": "TRADITIONAL", **options})
    if engine.dialect.name == "mysql":
        event.listen(engine, "connect", _read_committed)
        engine.dispose()  # oslo.db has tried the connection already
    return engine


def _sqlite(url: URL) -> Engine:
    # Not oslo.db's engine, which begins all transactions deferred and reopens the file for each.
    if url.database:
        path = pathlib.Path(url.database)
        path.parent.mkdir(parents=True, exist_ok=True)
        named_otherwise = url.database == ":memory:" or "uri" in url.query
        if not named_otherwise and not path.exists():
            # It holds user data and tokens. SQLite gives the files beside it the same mode.
            path.touch(0o640)
    engine = create_engine(url)
    event.listen(engine, "connect", _durable)
    event.listen(engine, "begin", _begin_immediate)
    exc_filters.register_engine(engine)
    return engine


def _durable(connection, _record) -> None:
    # The driver must not begin transactions by itself: a deferred transaction that reads and then
    # writes fails at once if another process has written in between.
    connection.isolation_level = None
    # Its own one changes ASCII letters only, unlike that of the other databases.
    connection.create_function("lower", 1, _lower, deterministic=True)
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={BUSY * 1000}")
    _use_wal(cursor)
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _use_wal(cursor: sqlite3.Cursor) -> None:
    # SQLite does not apply its busy timeout here while another process writes: of several that open
    # a new database at once, it refuses some.
    deadline = time.monotonic() + BUSY
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _begin_immediate(connection) -> None:
    reading = connection.get_execution_options().get("reading")
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def _read_committed(connection, _record) -> None:
    # Like PostgreSQL. Otherwise a writer may be refused a row that has changed since its first
    # read (MariaDB 11.6.2 and later).
    cursor = connection.cursor()
    cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
    cursor.close()
