"""The queue manager's process: runs one loop per pool and handles signals."""

import contextlib
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait

from oslo_log import log as logging

from nova_twotier import conf as config
from nova_twotier.cloud import qos
from nova_twotier.cloud.notifications import Listener
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.conf import ConfigError
from nova_twotier.core import policies
from nova_twotier.db.models import DEFAULT_POOL
from nova_twotier.db.store import Store, open_store
from nova_twotier.manager import election
from nova_twotier.manager.courier import Courier
from nova_twotier.manager.election import Candidate
from nova_twotier.manager.engine import Engine
from nova_twotier.manager.loop import Loop
from nova_twotier.manager.metrics import Metrics
from nova_twotier.manager.pool_metrics import PoolMetrics

LOG = logging.getLogger(__name__)

_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
#: Seconds between two checks that all loops still run, and do not hang.
_CHECK_INTERVAL = 0.5
#: Seconds for which a manager that is to end waits for a database that does not answer.
_PATIENCE = 10.0
#: Thresholds of Python's garbage collector. A poll of a long queue makes and keeps hundreds of
#: thousands of objects; with the default thresholds the collector would go through them repeatedly.
_GC_THRESHOLDS = (50_000, 10, 2)


def run(conf, check: Callable[[], object]) -> None:
    """Run the manager until SIGTERM or SIGINT; polls in progress are finished first.

    While the database hangs they cannot be, and the process ends without them.

    SIGHUP rereads the configuration files, for the options that may change at run time.

    :param check: raises ConfigError if the files are wrong.
    :raises ConfigError: if a required option is missing.
    :raises StoreError: if the database cannot be used.
    """
    collect_seldom()
    clouds = {pool: Cloud(conf) for pool in _pools(conf)}
    _check(conf)
    metrics = Metrics()
    with metrics.served(conf.manager), contextlib.closing(open_store(conf)) as store:
        network = qos.find(conf)
        stores = {pool: store.apart() for pool in clouds}
        loops = [
            _loop(conf, stores[pool], pool, cloud, network, metrics.pool(pool))
            for pool, cloud in clouds.items()
        ]
        courier = Courier(conf, store)
        with _signals_blocked(), ThreadPoolExecutor(len(loops) + 1) as threads:
            running = [threads.submit(loop.run) for loop in loops]
            courier.start()
            try:
                _serve(conf, loops, running, check)
            finally:
                for loop in loops:
                    loop.stop()
                _finish([*running, threads.submit(courier.stop)], [store, *stores.values()])
        for each in running:
            each.result()
    LOG.info("The queue manager has stopped. Running jobs continue; a restart resumes the queue.")


def collect_seldom() -> None:
    """Make garbage collections rarer, for a process that polls long queues."""
    gc.set_threshold(*_GC_THRESHOLDS)


def name_of_process() -> str:
    """The manager's name in logs and in the database: host name and process id."""
    return f"{socket.gethostname()}:{os.getpid()}"


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block the signals, also in threads started meanwhile: only `sigtimedwait` receives them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(conf, loops: list[Loop], running: list[Future], check: Callable[[], object]) -> None:
    LOG.info("The queue manager serves the pools %s", ", ".join(conf.manager.pools))
    while not any(each.done() for each in running):
        for loop in loops:
            loop.report_hang()
        received = signal.sigtimedwait(_SIGNALS, _CHECK_INTERVAL)
        # Interrupted by SIGSTOP, CPython 3.11 may return a signal that was never sent.
        if received is None or received.si_signo not in _SIGNALS:
            continue
        if received.si_signo != signal.SIGHUP:
            return
        config.reload(conf, check)


def _finish(ending: Collection[Future], stores: Collection[Store]) -> None:
    """Wait until all threads have stopped; if the database hangs, exit without waiting for them.

    Nothing can interrupt a thread that waits for the database, and Python would wait for it. To
    exit in mid-poll loses nothing: what is asked of Nova is recorded before, and who leads next
    begins a term in that database, so that nothing of this one is recorded any more, then looks at
    what Nova has done. Only an event that is just being delivered may be delivered again.

    :param ending: one future a thread.
    """
    while wait(ending, _CHECK_INTERVAL).not_done:
        if max(store.waited() for store in stores) >= _PATIENCE:
            LOG.warning(
                "[database] has not answered for %g s: the queue manager stops without waiting for "
                "it. Running jobs continue; a restart resumes the queue.",
                _PATIENCE,
            )
            # If no signal ends the manager, an error does, most often that of a loop.
            errors = [sys.exc_info()[1], *(each.exception() for each in ending if each.done())]
            failed = list(dict.fromkeys(error for error in errors if error is not None))
            for error in failed:
                LOG.error("The queue manager had failed before", exc_info=error)
            os._exit(1 if failed else 0)


def _check(conf) -> None:
    """Check the options of what the loops use, so that wrong ones do not leave a new database.

    :raises ConfigError: if one is wrong, or its library is not installed.
    """
    placement_for(conf)
    election.coordinator(conf.coordination, name_of_process())
    Listener(conf, DEFAULT_POOL)


def _pools(conf) -> list[str]:
    pools = list(dict.fromkeys(conf.manager.pools))
    if not pools:
        raise ConfigError("[manager]pools is empty: name the pools that this manager serves")
    return pools


def _loop(
    conf,
    store: Store,
    pool: str,
    cloud: Cloud,
    network: qos.Qos | None,
    metrics: PoolMetrics | None = None,
) -> Loop:
    placement = placement_for(conf)

    def engine(policy, fence, wake, clock) -> Engine:
        return Engine(
            conf.manager,
            store,
            cloud,
            placement,
            policies.get(policy, conf.manager.deadline_factor),
            clock,
            pool=pool,
            fence=fence,
            wake=wake,
            qos=network,
            metrics=metrics,
        )

    candidate = Candidate(conf.coordination, store, pool, name_of_process())
    listener = Listener(conf, pool)
    lease = conf.coordination.lease
    return Loop(candidate, store, engine, listener, lease, conf.manager, metrics=metrics)
