"""The schema's version, and the way to the newest one. There is no way back: keep a backup.

Alembic is imported only when there is something to do, which is seldom: it takes longer to load
than most commands to run.
"""

from sqlalchemy import Connection, Engine, inspect, text

from nova_twotier.db.connection import READING, StoreError, named, told

#: The schema of databases that were made before there were versions.
FIRST = "0001"
#: The schema that this program works with.
NEWEST = "0009"
SCRIPTS = "nova_twotier.db:migrations"


def version(engine: Engine) -> str | None:
    """The database's version; None if it is empty.

    :raises StoreError: if it does not answer.
    """
    with told(engine.url), engine.connect() as connection:
        return _version(connection.execution_options(**READING))


def require_newest(engine: Engine) -> None:
    """Make sure of the newest schema. Only that of SQLite is upgraded without being asked.

    :raises StoreError: if it is another one; the message says what to do.
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
    """Bring the schema to the newest version; what is stored is kept.

    :raises StoreError: if it is none of this program's, most often because it is newer.
    """
    from alembic import command

    with told(engine.url), engine.begin() as connection:
        # Inside the transaction: another process may have just done it.
        found = _version(connection)
        _check_known(found)
        config = _config()
        config.attributes["connection"] = connection
        if found == FIRST:
            command.stamp(config, FIRST)
        command.upgrade(config, NEWEST)


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
