"""`twotier-manage snapshot`: the state of a pool's queue as a file, for `twotier-sim what-if`."""

import contextlib
import pathlib
import time
from concurrent.futures import ThreadPoolExecutor

from nova_twotier.cloud.listing import AT_ONCE
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.cmd import extras
from nova_twotier.conf import ConfigError
from nova_twotier.core import queue_state
from nova_twotier.ledger.names import DEFAULT_POOL
from nova_twotier.sim.whole_file import replacing

Rows = tuple[list[dict], int]


def add_parser(nouns) -> None:
    """The command, with `run(conf, options)` that returns rows and exit code."""
    text = (
        "the state of a pool's queue (hosts, jobs that wait or run, past jobs) as JSON, for "
        "twotier-sim what-if; it only reads, also while a manager works or without one"
    )
    parser = nouns.add_parser("snapshot", help=text, description=text)
    parser.add_argument(
        "--pool", default=DEFAULT_POOL, metavar="NAME", help=f"default: {DEFAULT_POOL}"
    )
    parser.add_argument(
        "--output", type=pathlib.Path, metavar="FILE", help="default: to the standard output"
    )
    parser.add_argument(
        "--anonymous",
        action="store_true",
        help="numbers instead of the names of owners, hosts and pool",
    )
    parser.set_defaults(run=_snapshot, format="table", nothing="")


def _snapshot(conf, options) -> Rows:
    with _needed():
        from nova_twotier.audit.records import require_file
        from nova_twotier.cloud.nova import Cloud
        from nova_twotier.db.connection import DATABASE_ERRORS, StoreError
        from nova_twotier.db.store import open_store
        from nova_twotier.manager.queue_state import NoSuchPool, take

    require_file(conf)
    cloud = Cloud(conf)
    try:
        with (
            contextlib.closing(open_store(conf, max_retries=0)) as store,
            ThreadPoolExecutor(AT_ONCE) as readers,
        ):
            placement, pool = placement_for(conf), options.pool
            taken = take(store, cloud, placement, conf.manager, pool, time.time, readers)
    except NoSuchPool as error:
        raise ConfigError(str(error)) from error
    except (StoreError, *DATABASE_ERRORS) as error:
        raise ConfigError(str(error).splitlines()[0]) from error
    state = queue_state.anonymous(taken.state) if options.anonymous else taken.state
    text = queue_state.text(state)
    if options.output is None:
        # What is printed when there are no rows.
        options.nothing = text.rstrip("\n")
        return [], 0
    with replacing(options.output) as path:
        path.write_text(text, encoding="utf-8")
    waiting = len(state.waiting)
    row = {
        "file": str(options.output),
        "hosts": len(state.hosts),
        "waiting": waiting,
        "running": len(state.jobs) - waiting,
        "left out": taken.left_out,
        "past": len(state.past),
    }
    return [row], 0


@contextlib.contextmanager
def _needed():
    """:raises ConfigError: if the manager's libraries are not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(f"the manager's database {extras.missing(error, 'manager')}") from error
