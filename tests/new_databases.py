"""New SQLite databases for tests, in a hundredth of the time that all migrations take."""

import functools
import sqlite3

import fixtures

from nova_twotier.db import migration
from nova_twotier.db.connection import connect
from nova_twotier.db.store import Store

_upgrade = migration.upgrade


@functools.cache
def _newest():
    """An empty database of the newest schema, as the migrations make it."""
    newest = sqlite3.connect(":memory:", check_same_thread=False)
    engine = connect("sqlite://")
    _upgrade(engine)
    with engine.connect() as connection:
        connection.connection.dbapi_connection.backup(newest)
    engine.dispose()
    return newest


def _fill(engine):
    if engine.dialect.name == "sqlite" and migration.version(engine) is None:
        with engine.connect() as connection:
            _newest().backup(connection.connection.dbapi_connection)
    else:
        _upgrade(engine)


class CopiedSchema(fixtures.MonkeyPatch):
    """Each new database of SQLite is a copy of one that was upgraded; all others are upgraded."""

    def __init__(self):
        super().__init__("nova_twotier.db.migration.upgrade", _fill)


def new_store(test, url="sqlite://"):
    """A store with a new SQLite database, in memory by default, which the test closes."""
    with CopiedSchema():
        store = Store(url)
    test.addCleanup(store.close)
    return store
