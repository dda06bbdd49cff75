"""Migrated empty databases, made once a release and copied for each new cloud."""

import concurrent.futures
import importlib.metadata
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from nova_twotier.tools.fakecloud import inifile
from nova_twotier.tools.fakecloud.errors import FakeCloudError

# Part of the file names: raise it when the way the files are made changes.
_FORMAT = 1

# schema: (distribution, module with main(), arguments, options that hold the database URL)
_SYNC = {
    "nova-api": ("nova", "nova.cmd.manage", ["api_db", "sync"], ["api_database", "database"]),
    "nova-cell": (
        "nova",
        "nova.cmd.manage",
        ["db", "sync", "--local_cell"],
        ["database", "api_database"],
    ),
    "placement": (
        "openstack-placement",
        "placement.cmd.manage",
        ["db", "sync"],
        ["placement_database"],
    ),
    "keystone": ("keystone", "keystone.cmd.manage", ["db_sync"], ["database"]),
    "glance": ("glance", "glance.cmd.manage", ["db", "sync"], ["database"]),
}


def cache_dir() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "nova-twotier" / "schemas"


def version(schema: str) -> str:
    distribution = _SYNC[schema][0]
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError as error:
        raise FakeCloudError(
            f"{distribution} is not installed; install nova-twotier with its "
            f'"demo" (or, for --full, "full") extra'
        ) from error


def template(schema: str, kind: str = "sqlite") -> pathlib.Path:
    """Where the cached empty database of a schema is, whether it exists or not."""
    return cache_dir() / f"{schema}-{version(schema)}-{_FORMAT}.{kind}"


def ensure(schemas: list[str], progress=lambda text: None) -> None:
    """Make the missing templates, two at a time."""
    missing = [schema for schema in schemas if not template(schema).exists()]
    if not missing:
        return
    progress(f"making empty databases, once: {', '.join(missing)}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(_make, schema) for schema in missing]:
            done.result()


def copy(schema: str, path: pathlib.Path) -> None:
    shutil.copyfile(template(schema), path)


def sync(schema: str, url: str, scratch: pathlib.Path) -> None:
    """Migrate the database at the URL to the newest version."""
    _, module, arguments, groups = _SYNC[schema]
    options = {group: {"connection": url, "sqlite_synchronous": False} for group in groups}
    conf = scratch / f"{schema}.conf"
    inifile.write(conf, options)
    ran = subprocess.run(  # noqa: S603 - the services' own commands
        [
            sys.executable,
            "-c",
            f"import sys; from {module} import main; sys.exit(main())",
            "--config-file",
            str(conf),
            *arguments,
        ],
        capture_output=True,
        text=True,
        cwd=scratch,
        check=False,
    )
    if ran.returncode:
        reason = (ran.stderr or ran.stdout).strip().splitlines()[-1:] or ["no message"]
        raise FakeCloudError(f"cannot make the {schema} database: {reason[0]}")


def _make(schema: str) -> None:
    target = template(schema)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".making-") as directory:
        scratch = pathlib.Path(directory)
        path = scratch / "database.sqlite"
        sync(schema, f"sqlite:///{path}", scratch)
        connection = sqlite3.connect(path, isolation_level=None)
        # Kept in the file: every later connection writes ahead without being told.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("VACUUM")
        connection.close()
        # Whoever is first wins; the files of two starters are equal.
        path.replace(target)


def load_mysql(schema: str, url: str) -> None:
    """Fill an empty MariaDB database: from the cache, or by migrations that then fill the cache."""
    cache = template(schema, "mysql.json")
    if not cache.exists():
        cache.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache.parent, prefix=".making-") as directory:
            scratch = pathlib.Path(directory)
            sync(schema, url, scratch)
            (scratch / "dump").write_text(json.dumps(_dump_mysql(url), default=str))
            (scratch / "dump").replace(cache)
        return
    with _mysql(url) as connection:
        connection.exec_driver_sql("SET foreign_key_checks = 0")
        for table in json.loads(cache.read_text()):
            connection.exec_driver_sql(table["create"].replace("%", "%%"))
            for row in table["rows"]:
                places = ", ".join(["%s"] * len(row))
                connection.exec_driver_sql(
                    f"INSERT INTO `{table['name']}` VALUES ({places})",  # noqa: S608 - our dump
                    tuple(row),
                )


def _dump_mysql(url: str) -> list[dict]:
    """Tables with the statement that makes each, and the few rows that migrations put in."""
    with _mysql(url) as connection:
        names = connection.exec_driver_sql("SHOW TABLES").scalars().all()
        tables = []
        for name in names:
            create = connection.exec_driver_sql(f"SHOW CREATE TABLE `{name}`").one()[1]
            rows = connection.exec_driver_sql(f"SELECT * FROM `{name}`")  # noqa: S608 - its name
            tables.append({"name": name, "create": create, "rows": [list(row) for row in rows]})
        return tables


def _mysql(url: str):
    import sqlalchemy

    return sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool).begin()
