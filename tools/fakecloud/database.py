"""Prepares the queue's database if the user has named one on MariaDB or PostgreSQL."""

import pathlib

from sqlalchemy.engine import make_url

from nova_twotier import conf as config
from nova_twotier.db import migration
from nova_twotier.db.connection import StoreError, connect, server_options
from nova_twotier.tools.fakecloud.errors import FakeCloudError


def fill(file: pathlib.Path) -> None:
    """Make the tables in an empty database of a server; one that has some is left as it is.

    A SQLite file gets its tables from whatever opens it first.

    :param file: the configuration of the queue manager.
    :raises FakeCloudError: if the database does not answer, or lets nobody make tables.
    """
    conf = config.load([f"--config-file={file}"], "fakecloud")
    if make_url(conf.database.connection).get_backend_name() == "sqlite":
        return
    try:
        engine = connect(conf.database.connection, **server_options(conf))
        try:
            if migration.version(engine) is None:
                migration.upgrade(engine)
        finally:
            engine.dispose()
    except StoreError as error:
        raise FakeCloudError(str(error)) from error
