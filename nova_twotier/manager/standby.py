"""Says in the log whom a standby manager waits for, and if that one gives no sign of life."""

from oslo_log import log as logging

from nova_twotier.db.heartbeats import heartbeats
from nova_twotier.db.store import Store

LOG = logging.getLogger(__name__)

#: So many looks in a row must find no heartbeat: who has just taken the lead has not sent one yet.
LOOKS = 3
#: A leader of no term: it has just taken the lead, or shares the locks, but not the database.
UNKNOWN = (
    "a process that this database does not know; if that lasts, give all managers the same "
    "[database]connection, or other managers another [coordination]backend_url"
)


class Standby:
    """What the log has said of a pool's leader.

    :param lease: `[coordination]lease`, in seconds.
    """

    def __init__(self, store: Store, pool: str, lease: float):
        self._store, self._pool, self._lease = store, pool, lease
        #: Whom it has named; None: nobody yet.
        self._leader: str | None = None
        #: Looks in a row that found no heartbeat.
        self._silent = 0

    def lead(self) -> None:
        """This process has taken the lead itself."""
        self._leader, self._silent = None, 0

    def follow(self, leader: str, now: float, *, again: bool) -> None:
        """Look at the leader, which keeps this process from leading.

        :param leader: its name; empty if the database does not know it.
        :param now: in seconds since the epoch.
        :param again: say whom this process waits for, also if that was said before.
        """
        last = heartbeats(self._store, [self._pool], self._lease, now)[self._pool]
        silent = self._silent + 1 if last.missing and last.at is not None else 0
        if again or leader != self._leader or (self._silent >= LOOKS and not silent):
            LOG.info("Standing by: pool %s is led by %s", self._pool, leader or UNKNOWN)
        self._leader, self._silent = leader, silent
        if silent == LOOKS:
            LOG.warning(
                "Pool %s: %s, but %s still holds the lead, so that this manager cannot take over. "
                "If that process is stopped or hangs, end it",
                self._pool,
                last.text(),
                leader or "another process",
            )
