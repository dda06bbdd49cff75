"""`twotier-manage db`, `history`, `schedule` and `trust`: the database, and trusts without jobs."""

import argparse
import contextlib
import pathlib
import time

from nova_twotier.client import output
from nova_twotier.cloud.nova import session_for
from nova_twotier.cloud.trusts import Trusts
from nova_twotier.cmd import extras
from nova_twotier.conf import ConfigError
from nova_twotier.sim.whole_file import replacing

#: Seconds.
DAY = 86400
#: Exit code of a schema that is not the newest.
OUTDATED = 1

Rows = tuple[list[dict], int]


def add_parser(nouns) -> None:
    """The commands, each with `run(conf, options)` that returns rows and exit code."""
    db = nouns.add_parser("db", help="the manager's database: its schema, and what is too old")
    verbs = db.add_subparsers(required=True, metavar="upgrade|version|purge")
    for verb in (
        _verb(verbs, "upgrade", _upgrade, "bring it to the newest version; make a backup first"),
        _verb(verbs, "version", _version, "exit code 1 if it is not the newest"),
    ):
        verb.add_argument(
            "-f", "--format", choices=output.FORMATS, default="table", help="default: table"
        )
    purge = _verb(
        verbs,
        "purge",
        _purge,
        "delete what is older than some days: jobs that are over, with their events, actions and "
        "places, and the events of queues; while API and manager work. Their usage stays, as sums "
        "of each day",
    )
    purge.add_argument(
        "--older-than",
        type=_days,
        required=True,
        metavar="DAYS",
        help="since the job was over, e.g. 90",
    )
    history = nouns.add_parser("history", help="the jobs of the past")
    verbs = history.add_subparsers(required=True, metavar="export")
    export = _verb(
        verbs,
        "export",
        _export,
        "all jobs as a trace in the Standard Workload Format, for twotier-sim",
    )
    export.add_argument(
        "--out", type=pathlib.Path, metavar="FILE", help="default: to the standard output"
    )
    export.add_argument(
        "--processors",
        type=_count,
        metavar="N",
        help="foreground slots of the cluster, for the trace's header, e.g. 128",
    )
    trust = nouns.add_parser("trust", help="the trusts by which jobs run in their projects")
    verbs = trust.add_subparsers(required=True, metavar="sweep")
    sweep = _verb(
        verbs,
        "sweep",
        _sweep,
        "delete the trusts of jobs that are over, or that were never stored because the API ended; "
        "those of others are left alone",
    )
    sweep.set_defaults(nothing="nothing to sweep")
    for verb in (purge, sweep):
        verb.add_argument(
            "-n", "--dry-run", action="store_true", help="only show what would be deleted"
        )
        verb.add_argument(
            "-f", "--format", choices=output.FORMATS, default="table", help="default: table"
        )
    schedule = _verb(
        nouns,
        "schedule",
        _schedule,
        "which slot each process held, from when to when (seconds since the epoch), as CSV",
    )
    schedule.add_argument(
        "--out", type=pathlib.Path, metavar="FILE", help="default: to the standard output"
    )


def _verb(verbs, name: str, run, text: str) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=text, description=text)
    verb.set_defaults(run=run, format="table", nothing="")
    return verb


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of slots, such as 128")
    return int(text)


def _days(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days, such as 90")
    return int(text)


def _upgrade(conf, _options) -> Rows:
    with _database(conf) as (migration, engine):
        before = migration.version(engine)
        migration.upgrade(engine)
        return [_schema(engine, was=before or "none", **{"is": migration.version(engine)})], 0


def _version(conf, _options) -> Rows:
    _require_file(conf)
    with _database(conf) as (migration, engine):
        found = migration.version(engine)
        row = _schema(engine, **{"is": found or "none"}, newest=migration.NEWEST)
        return [row], 0 if found == migration.NEWEST else OUTDATED


def _schema(engine, **versions: str) -> dict:
    return {"database": engine.url.render_as_string(hide_password=True), **versions}


def _export(conf, options) -> Rows:
    with _store(conf) as store:
        from nova_twotier.db import history

        jobs = store.jobs()
    trace = "\n".join(history.swf(jobs, options.processors))
    return _written(options, trace, jobs=len(jobs))


def _schedule(conf, options) -> Rows:
    with _store(conf) as store:
        from nova_twotier.manager import schedule

        with store.reading() as session:
            table = schedule.as_csv(schedule.places(session)).rstrip("\n")
    return _written(options, table, places=table.count("\n"))


def _purge(conf, options) -> Rows:
    with _store(conf) as store:
        from nova_twotier.db import purge

        before = time.time() - options.older_than * DAY
        return [purge.purge(store, before, options.dry_run)._asdict()], 0


def _sweep(conf, options) -> Rows:
    with _store(conf) as store:
        from nova_twotier.db import submissions

        session, _options = session_for(conf, "nova")
        trusts = Trusts(session, conf.trust.roles)
        swept = submissions.sweep(store, trusts, options.dry_run)
        return [{"trust": each.id, "job": each.job or ""} for each in swept], 0


def _written(options, text: str, **counts: int) -> Rows:
    if options.out is None:
        # What is printed when there are no rows.
        options.nothing = text
        return [], 0
    with replacing(options.out) as path:
        path.write_text(f"{text}\n", encoding="utf-8")
    return [{"file": str(options.out), **counts}], 0


def _require_file(conf) -> None:
    with _plainly():
        from nova_twotier.audit.records import require_file

        require_file(conf)


@contextlib.contextmanager
def _store(conf):
    """The manager's database, which must exist."""
    _require_file(conf)
    with _plainly():
        from nova_twotier.db.store import open_store

        with contextlib.closing(open_store(conf, max_retries=0)) as store:
            yield store


@contextlib.contextmanager
def _database(conf):
    """The migration module, and the database with any schema."""
    with _plainly():
        from nova_twotier.db import migration
        from nova_twotier.db.connection import connect, server_options

        engine = connect(conf.database.connection, **server_options(conf, max_retries=0))
        try:
            yield migration, engine
        finally:
            engine.dispose()


@contextlib.contextmanager
def _plainly():
    """Translate errors of the database.

    :raises ConfigError: if its libraries are not installed, or it cannot be used.
    """
    try:
        from nova_twotier.db.connection import DATABASE_ERRORS, StoreError
    except ModuleNotFoundError as error:
        raise ConfigError(f"the manager's database {extras.missing(error, 'manager')}") from error
    try:
        yield
    except (StoreError, *DATABASE_ERRORS) as error:
        raise ConfigError(str(error).splitlines()[0]) from error
