"""Leader election: one leader for each pool of hosts, by a tooz lock.

The holder of the pool's lock leads. How soon the others notice that a leader is gone depends on the
driver: a file lock ends with the process, a database lock with the connection, an etcd lock with
the lease. None of them stops a leader that has lost its lock without noticing. Terms do
(`db.terms`): the leader checks its term before everything it does.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from oslo_log import log as logging
from sqlalchemy.orm import Session
from tooz import ToozError, coordination, locking

from nova_twotier.conf import ConfigError
from nova_twotier.db import terms
from nova_twotier.db.store import Store
from nova_twotier.ledger import names

LOG = logging.getLogger(__name__)


class Led(Exception):
    """Another process leads a pool; the message names both."""


class Candidate:
    """A candidate for leader of a pool.

    :param options: group `[coordination]`.
    :param store: the manager's database; None without one, and then there are no terms.
    :param name: this process's name in logs and messages.
    :param manages: it manages the pool's queue while it leads, and says so by heartbeats in the
        database.
    """

    def __init__(self, options, store: Store | None, pool: str, name: str, *, manages: bool = True):
        self._options = options
        self._store = store
        self._manages = manages
        self.pool, self._name = pool, name
        self._term = 0
        #: When this process last finished a poll in its term, in seconds since the epoch.
        self._polled_at: float | None = None
        self._coordinator: coordination.CoordinationDriver | None = None
        self._lock: locking.Lock | None = None
        self._resigned = threading.Event()

    def stand(self) -> bool:
        """Try to become the leader; returns whether this process leads now.

        :raises ConfigError: if tooz does not know the backend.
        :raises ToozError, DBError: if the backend or the database does not answer; try again later.
        """
        try:
            if self._coordinator is None:
                self._coordinator = connect(self._options, self._name)
            lock = self._coordinator.get_lock(_lock_name(self.pool))
            if not _acquired(lock):
                return False
        except ToozError:
            self._disconnect()
            raise
        self._lock = lock
        try:
            self._term = self._begin()
        except Exception:
            self.resign()
            raise
        self._resigned, self._polled_at = threading.Event(), None
        for beat in self._beats(self._coordinator):
            # A thread each, so that a database that does not answer costs no lead.
            threading.Thread(target=self._beat, args=(beat, self._resigned), daemon=True).start()
        LOG.info("%s leads pool %s, term %s", self._name, self.pool, self._term)
        return True

    def fence(self, session: Session, lock: bool = False) -> None:
        """Check that no other leader has begun a term.

        :param lock: also prevent one from beginning before the session's transaction ends.
        :raises Deposed: if another leader has.
        """
        terms.require(session, self.pool, self._term, lock)

    def polled(self) -> None:
        """The next heartbeat says that a poll was finished now."""
        self._polled_at = time.time()

    def leader(self) -> str:
        """The name of the present or the last leader; empty if there was none."""
        return terms.leader_of(self._store, self.pool) if self._store else ""

    def resign(self) -> None:
        """Give up the lead, so that another process can take it; does nothing without the lead."""
        if self._lock is None:
            return
        lock, self._lock = self._lock, None
        self._resigned.set()
        try:
            lock.release()
        except ToozError as error:
            # The lock ends with the connection or the lease.
            LOG.warning("Could not release the lead of pool %s: %s", self.pool, brief(error))
            self._disconnect()

    def close(self) -> None:
        self.resign()
        self._disconnect()

    def _begin(self) -> int:
        if self._store is None:
            return 0
        return terms.begin(self._store, self.pool, self._name, self._manages)

    def _beats(self, coordinator) -> Iterator[Callable[[], object]]:
        """What renews the lead: in the service that holds the lock, and in the database."""
        yield coordinator.heartbeat
        if self._store is not None and self._manages:
            store, term = self._store, self._term
            yield lambda: terms.renew(store, self.pool, term, self._polled_at)

    def _beat(self, beat: Callable[[], object], resigned: threading.Event) -> None:
        logged = ""
        while not resigned.wait(self._options.lease / 3):
            trouble = ""
            try:
                beat()
            # Not all tooz drivers translate their libraries' errors. The next beat may succeed.
            except Exception as error:
                trouble = brief(error)
            if trouble and trouble != logged:
                LOG.warning("Could not renew the lead of pool %s: %s", self.pool, trouble)
            logged = trouble

    def _disconnect(self) -> None:
        coordinator, self._coordinator = self._coordinator, None
        if coordinator is not None:
            with contextlib.suppress(ToozError):
                coordinator.stop()


def coordinator(options, name: str) -> coordination.CoordinationDriver:
    """A tooz coordinator that has not been started.

    :param options: group `[coordination]`.
    :raises ConfigError: if tooz does not know the backend, or its library is not installed.
    """
    try:
        return coordination.get_coordinator(
            options.backend_url, name.encode(), timeout=str(options.lease)
        )
    except (ImportError, RuntimeError, ValueError) as error:
        # Without the address: it may contain a password.
        scheme = options.backend_url.partition(":")[0]
        raise ConfigError(
            f"[coordination]backend_url: tooz cannot use {scheme!r} ({brief(error)}): give one of "
            "file, mysql, postgresql and etcd3+http, with its library installed, such as "
            "tooz[mysql]"
        ) from error


def connect(options, name: str) -> coordination.CoordinationDriver:
    """A started tooz coordinator.

    :param options: group `[coordination]`.
    :raises ConfigError: as `coordinator`.
    :raises ToozError: if the backend does not answer.
    """
    made = coordinator(options, name)
    try:
        made.start()
    except ToozError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.filename:
            raise _unusable(error.__cause__) from error
        raise
    except Exception as error:  # not all drivers translate their libraries' errors
        raise ToozError(brief(error)) from error
    return made


def _acquired(lock: locking.Lock) -> bool:
    try:
        return lock.acquire(blocking=False)
    except OSError as error:
        raise _unusable(error) from error


def _unusable(error: OSError) -> ToozError:
    """The error to raise instead of tooz's own, which does not name the file."""
    return ToozError(f"the coordination files cannot be used: {error}")


@contextlib.contextmanager
def alone(options, store: Store | None, pools: Iterable[str], name: str) -> Iterator[None]:
    """Lead all these pools, so that no manager acts meanwhile.

    :raises Led: if another process leads one of them.
    :raises ConfigError: if the backend does not answer.
    """
    with contextlib.ExitStack() as stack:
        for pool in sorted(pools):
            candidate = Candidate(options, store, pool, name, manages=False)
            stack.callback(candidate.close)
            try:
                leads = candidate.stand()
            except ToozError as error:
                raise ConfigError(
                    f"[coordination]backend_url does not answer: {brief(error)}"
                ) from error
            if not leads:
                by = candidate.leader() or "somebody"
                raise Led(f"pool {pool} is led by {by}; stop it first")
        yield


def brief(error: Exception) -> str:
    """The first line of an error's message, or its class name."""
    return str(error).partition("\n")[0] or type(error).__name__


def _lock_name(pool: str) -> bytes:
    # MySQL allows 64 characters and ignores case.
    return f"twotier-{names.jobs_uuid(pool)}".encode()
