"""Make oslo.db's transactions on SQLite files safe and fast for many threads and processes."""

import functools

import sqlalchemy
from oslo_db.sqlalchemy import enginefacade, engines
from sqlalchemy import event, pool

_WRITES = "fakecloud_writes"


def url(path) -> str:
    return f"sqlite:///{path}?timeout=60"


def patch() -> None:
    """Pool connections: to open and tune one costs as much as the average transaction. Let writers
    wait for each other."""
    engines.create_engine = functools.partial(engines.create_engine, _engine_target=_create_engine)
    let_writers_wait()


def let_writers_wait() -> None:
    """Begin writer transactions with BEGIN IMMEDIATE.

    oslo.db begins deferred: a transaction that reads and then writes fails at once with "database
    is locked" when another one wrote in between. A writer that takes its lock at the start waits.
    """
    factory = enginefacade._TransactionFactory
    setup, session, connection = (
        factory._setup_for_connection,
        factory._create_session,
        factory._create_connection,
    )

    def setup_for_connection(self, *args, **kwargs):
        engine, maker = setup(self, *args, **kwargs)
        if engine.dialect.name == "sqlite":
            self._fakecloud_writer = engine.execution_options(**{_WRITES: True})
        return engine, maker

    def create_session(self, mode, bind=None):
        if not self._started:
            self._start()
        if mode is enginefacade._WRITER and bind is None:
            bind = getattr(self, "_fakecloud_writer", None)
        return session(self, mode, bind=bind)

    def create_connection(self, mode):
        if not self._started:
            self._start()
        writer = getattr(self, "_fakecloud_writer", None)
        if mode is enginefacade._WRITER and writer is not None:
            return writer.connect()
        return connection(self, mode)

    # On the class, so that it comes before oslo.db's listener on the engine: that one emits a
    # plain BEGIN unless one was emitted. (An insert=True on the engine has no effect.)
    event.listen(sqlalchemy.Engine, "begin", _begin_immediate)
    factory._setup_for_connection = setup_for_connection
    factory._create_session = create_session
    factory._create_connection = create_connection


def _create_engine(url, **options):
    if url.get_backend_name() == "sqlite":
        # oslo.db asks for a new connection each time. Last in, first out: few connections that
        # know most statements already.
        options.update(
            poolclass=pool.QueuePool,
            pool_size=16,
            max_overflow=-1,
            pool_use_lifo=True,
            pool_pre_ping=False,
        )
        options["connect_args"] = {
            **options["connect_args"],
            "check_same_thread": False,
            "cached_statements": 512,
        }
    engine = sqlalchemy.create_engine(url, **options)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _tune)
    return engine, engine


def _tune(dbapi_connection, _record):
    # The cloud is thrown away after a crash: nothing is worth an fsync.
    dbapi_connection.execute("PRAGMA synchronous = OFF")


def _begin_immediate(conn):
    if conn.get_execution_options().get(_WRITES) and "in_transaction" not in conn.info:
        conn.execute(sqlalchemy.text("BEGIN IMMEDIATE"))
        conn.info["in_transaction"] = True
