"""One leader for each pool of hosts, elected by tooz.

Whoever holds the pool's lock leads. How soon the others see that a leader is gone is the driver's
matter: files know at once that a process has died, databases that a connection was closed, etcd
that a lease was not renewed. None of them stops a leader that has lost its lock without noticing:
that is what terms are for (`db.terms`), which it asks before whatever it does.
"""

import contextlib
import threading
from collections.abc import Iterable, Iterator

from oslo_log import log as logging
from sqlalchemy.orm import Session
from tooz import ToozError, coordination, locking

from nova_twotier.conf import ConfigError
from nova_twotier.db import terms
from nova_twotier.db.store import Store
from nova_twotier.ledger import names

LOG = logging.getLogger(__name__)


class Led(Exception):
    """A manager leads a pool; the message says which pool, and who."""


class Candidate:
    """Stands for election as the leader of a pool.

    :param options: of group `[coordination]`.
    :param store: of the pool's jobs; None if there is no manager's database, and so no terms.
    :param name: of this process, for people.
    """

    def __init__(self, options, store: Store | None, pool: str, name: str):
        self._options = options
        self._store = store
        self.pool, self._name = pool, name
        self._term = 0
        self._coordinator: coordination.CoordinationDriver | None = None
        self._lock: locking.Lock | None = None
        self._resigned = threading.Event()

    def stand(self) -> bool:
        """Lead from now on, unless somebody else does. Returns whether it leads.

        :raises ConfigError: if the backend is not one that tooz has.
        :raises ToozError, DBError: if one of them does not answer; try again later.
        """
        try:
            if self._coordinator is None:
                self._coordinator = connect(self._options, self._name)
            lock = self._coordinator.get_lock(_lock_name(self.pool))
            if not lock.acquire(blocking=False):
                return False
        except ToozError:
            self._disconnect()
            raise
        self._lock = lock
        try:
            self._term = terms.begin(self._store, self.pool, self._name) if self._store else 0
        except Exception:
            self.resign()
            raise
        self._resigned = threading.Event()
        beat = (self._coordinator, self._resigned)
        threading.Thread(target=self._beat, args=beat, daemon=True).start()
        LOG.info("%s leads pool %s, term %s", self._name, self.pool, self._term)
        return True

    def fence(self, session: Session, lock: bool = False) -> None:
        """Go on only if no other leader has begun its term.

        :param lock: none begins before the session's transaction ends.
        :raises Deposed: otherwise.
        """
        terms.require(session, self.pool, self._term, lock)

    def leader(self) -> str:
        """The name of the one that leads, or was the last to do so; empty if none did."""
        return terms.leader_of(self._store, self.pool) if self._store else ""

    def resign(self) -> None:
        """Let another one lead, at once; nothing happens if this one does not."""
        if self._lock is None:
            return
        lock, self._lock = self._lock, None
        self._resigned.set()
        try:
            lock.release()
        except ToozError as error:
            # It ends with the connection, or with the lease.
            LOG.warning("The lead of pool %s is not given back: %s", self.pool, brief(error))
            self._disconnect()

    def close(self) -> None:
        self.resign()
        self._disconnect()

    def _beat(self, coordinator, resigned: threading.Event) -> None:
        while not resigned.wait(self._options.lease / 3):
            try:
                coordinator.heartbeat()
            # Not all of tooz's drivers translate what their libraries raise; the next beat may do.
            except Exception as error:
                LOG.warning("The lead of pool %s is not renewed: %s", self.pool, brief(error))

    def _disconnect(self) -> None:
        coordinator, self._coordinator = self._coordinator, None
        if coordinator is not None:
            with contextlib.suppress(ToozError):
                coordinator.stop()


def connect(options, name: str) -> coordination.CoordinationDriver:
    """A coordinator that is started.

    :param options: of group `[coordination]`.
    :raises ConfigError: if tooz has no such backend, or its library is not there.
    :raises ToozError: if it does not answer.
    """
    try:
        coordinator = coordination.get_coordinator(
            options.backend_url, name.encode(), timeout=str(options.lease)
        )
    except (ImportError, RuntimeError, ValueError) as error:
        # Without the address: there is a password in it.
        scheme = options.backend_url.partition(":")[0]
        raise ConfigError(
            f"[coordination]backend_url: tooz cannot use {scheme!r} ({brief(error)}): give one of "
            "file, mysql, postgresql and etcd3+http, with its library installed, such as "
            "tooz[mysql]"
        ) from error
    try:
        coordinator.start()
    except ToozError:
        raise
    except Exception as error:  # not all drivers translate what their libraries raise
        raise ToozError(brief(error)) from error
    return coordinator


@contextlib.contextmanager
def alone(options, store: Store | None, pools: Iterable[str], name: str) -> Iterator[None]:
    """Lead all these pools, so that no manager does anything meanwhile.

    :raises Led: if one is led by somebody else.
    :raises ConfigError: if it cannot be said, because the backend does not answer.
    """
    with contextlib.ExitStack() as stack:
        for pool in sorted(pools):
            candidate = Candidate(options, store, pool, name)
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
    """The first line of an error, or its kind."""
    return str(error).partition("\n")[0] or type(error).__name__


def _lock_name(pool: str) -> bytes:
    # MySQL's may have 64 characters, and does not tell upper from lower case.
    return f"twotier-{names.jobs_uuid(pool)}".encode()
