"""The queue manager's process: a loop for each of its pools, and what signals do to it."""

import contextlib
import gc
import os
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from oslo_log import log as logging

from nova_twotier.cloud import qos
from nova_twotier.cloud.notifications import Listener
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.sessions import placement_for
from nova_twotier.conf import ConfigError
from nova_twotier.core import policies
from nova_twotier.db.store import Store, open_store
from nova_twotier.manager.election import Candidate
from nova_twotier.manager.engine import Engine
from nova_twotier.manager.loop import Loop

LOG = logging.getLogger(__name__)

_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
#: Seconds between two polls whether all loops still run.
_CARE = 0.5
#: New objects after which Python looks for garbage among them, and how often it does so before it
#: looks among the older ones, too. A poll at a long queue makes hundreds of thousands and keeps
#: them; with Python's own, smaller numbers it is interrupted again and again to go through all.
_COLLECT_AFTER = (50_000, 10, 2)


def run(conf, check: Callable[[], object]) -> None:
    """Until SIGTERM or SIGINT; then the looks that are under way are finished.

    SIGHUP reads the configuration files again, for the options that may change in mid-run.

    :param check: raises ConfigError if there is something wrong with the files.
    :raises ConfigError: if the options are not enough to begin with.
    :raises StoreError: if the database cannot be used.
    """
    collect_seldom()
    with contextlib.closing(open_store(conf)) as store:
        clouds = {pool: Cloud(conf) for pool in _pools(conf)}
        network = qos.find(conf)
        loops = [_loop(conf, store, pool, cloud, network) for pool, cloud in clouds.items()]
        with _signals_blocked(), ThreadPoolExecutor(len(loops)) as threads:
            running = [threads.submit(loop.run) for loop in loops]
            try:
                _serve(conf, running, check)
            finally:
                for loop in loops:
                    loop.stop()
        for each in running:
            each.result()
    LOG.info("The queue manager has stopped; jobs go on, and so will it when started again")


def collect_seldom() -> None:
    """For a process that looks at long queues: fewer garbage collections."""
    gc.set_threshold(*_COLLECT_AFTER)


def name_of_process() -> str:
    """What a manager is called where it tells others of itself."""
    return f"{socket.gethostname()}:{os.getpid()}"


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Threads that begin meanwhile inherit it: signals are seen by `sigtimedwait` only."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(conf, running: list[Future], check: Callable[[], object]) -> None:
    LOG.info("The queue manager is at work for the pools %s", ", ".join(conf.manager.pools))
    while not any(loop.done() for loop in running):
        received = signal.sigtimedwait(_SIGNALS, _CARE)
        # Interrupted by SIGSTOP, CPython 3.11 may return a signal that was never sent.
        if received is None or received.si_signo not in _SIGNALS:
            continue
        if received.si_signo != signal.SIGHUP:
            return
        _reload(conf, check)


def _reload(conf, check: Callable[[], object]) -> None:
    try:
        check()  # oslo.config itself would notice what is wrong only when it is used
    except ConfigError as error:
        LOG.error("The options stay as they were: %s", error)
    else:
        conf.mutate_config_files()
        LOG.info("The options that may change in mid-run were read again")


def _pools(conf) -> list[str]:
    pools = list(dict.fromkeys(conf.manager.pools))
    if not pools:
        raise ConfigError("[manager]pools is empty: name the pools that this manager serves")
    return pools


def _loop(conf, store: Store, pool: str, cloud: Cloud, network: qos.Qos | None) -> Loop:
    placement = placement_for(conf)

    def engine(fence, wake, clock) -> Engine:
        policy = policies.get(conf.manager.policy)
        return Engine(
            conf.manager,
            store,
            cloud,
            placement,
            policy,
            clock,
            pool=pool,
            fence=fence,
            wake=wake,
            qos=network,
        )

    candidate = Candidate(conf.coordination, store, pool, name_of_process())
    listener = Listener(conf, pool)
    return Loop(candidate, store, engine, listener, conf.coordination.lease, conf.manager)
