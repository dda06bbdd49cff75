"""Reads the schema's version and upgrades to the newest. There are no downgrades: keep a backup.

Alembic is imported only if there is something to do, because loading it takes longer than most
commands.
"""

import contextlib
from collections.abc import Iterator

from oslo_db.exception import DBConnectionError, DBError
from sqlalchemy import ColumnElement, Connection, Engine, func, inspect, null, select, text

from nova_twotier.db.connection import READING, StoreError, named, translated_errors

#: The schema of databases that were made before there were versions.
FIRST = "0001"
#: The schema that this program works with.
NEWEST = "0031"
SCRIPTS = "nova_twotier.db:migrations"
#: The lock of upgrades in a database of PostgreSQL: any number.
_LOCK = 0x74776F74696572
#: Seconds for which an upgrade waits for another one of the same database.
_PATIENCE = 3600


def version(engine: Engine) -> str | None:
    """The database's version; None if it is empty.

    :raises StoreError: if it does not answer.
    """
    with translated_errors(engine.url), engine.connect() as connection:
        return _version(connection.execution_options(**READING))


def require_newest(engine: Engine) -> None:
    """Require the newest schema; only SQLite databases are upgraded automatically.

    :raises StoreError: if the schema is another; the message says what to do.
    """
    found = version(engine)
    if found == NEWEST:
        return
    if engine.dialect.name == "sqlite":
        upgrade(engine)
        return
    _check_known(found)
    if found is None:
        state, advice = "empty", "run"
    else:
        state, advice = f"of schema {found}, not {NEWEST}", "make a backup, then run"
    raise StoreError(
        f"database {named(engine.url)} is {state}; {advice}: twotier-manage db upgrade"
    )


def upgrade(engine: Engine) -> None:
    """Upgrade the schema to the newest version, keeping all data.

    Of several that do this at once, one does it, and the others wait for that.

    :raises StoreError: if this program does not know the schema, most often because it is newer.
    """
    from alembic import command

    with (
        translated_errors(engine.url),
        engine.connect() as connection,
        _alone(connection),
        connection.begin(),
    ):
        # Inside the transaction: another process may have just done it.
        found = _version(connection)
        _check_known(found)
        config = _config()
        config.attributes["connection"] = connection
        if found == FIRST:
            command.stamp(config, FIRST)
        command.upgrade(config, NEWEST)


@contextlib.contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """Hold a lock that other upgrades of the database wait for; SQLite's transactions need none.

    :raises StoreError: if another one takes too long.
    """
    acquire: ColumnElement
    release: ColumnElement
    match connection.dialect.name:
        case "postgresql":
            acquire, release = func.pg_advisory_lock(_LOCK), func.pg_advisory_unlock(_LOCK)
        case "mysql":
            # All databases share these locks, whose names have up to 64 characters.
            name = func.sha1(func.concat("twotier-upgrade ", func.database()))
            acquire, release = func.get_lock(name, _PATIENCE), func.release_lock(name)
        case _:
            yield
            return
    try:
        in_vain = connection.scalar(select(acquire)) == 0
    except DBConnectionError:
        raise  # it has waited, perhaps, and the other one still goes on
    except DBError:
        # Some Galera clusters refuse it; their operators run one upgrade at a time.
        in_vain, release = False, null()
    connection.rollback()
    if in_vain:
        raise StoreError(
            f"database {named(connection.engine.url)}: another upgrade has not ended for "
            f"{_PATIENCE} s"
        )
    try:
        yield
    finally:
        connection.execute(select(release))


def _check_known(found: str | None) -> None:
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    if found not in (None, *(script.revision for script in scripts)):
        raise StoreError(
            f"the database's schema is {found}, which this nova-twotier does not know (it knows "
            f"those up to {NEWEST}); install the newer version that made it"
        )


def _version(connection: Connection) -> str | None:
    tables = inspect(connection)
    if tables.has_table("alembic_version"):
        return connection.scalar(text("SELECT version_num FROM alembic_version"))
    return FIRST if tables.has_table("job") else None


def _config():
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", SCRIPTS)
    return config
