"""The servers that Nova lists, kept up to date by listing what has changed.

Nova builds the answer server by server: to list all of them every second would keep it busy.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from nova_twotier.cloud.reader import Document

#: Seconds by which a listing of changes goes back behind the one before: clocks differ, and a
#: change shows a little after the time that it bears.
OVERLAP = 5.0
#: Seconds after which everything is listed again: a server that ended before it was built leaves
#: no change behind.
RENEWAL = 10.0


class ServerCache:
    """
    :param listing: `Reader.servers`.
    """

    def __init__(self, listing: Callable[[str], list[Document]]):
        self._listing = listing
        self._servers: dict[str, Document] = {}
        self._renewed_at: float | None = None
        self._polled_at = 0.0

    def poll(self, now: float) -> list[Document]:
        """All servers of all projects, each once."""
        # Also when the clock was set back.
        renew = self._renewed_at is None or not 0 <= now - self._renewed_at < RENEWAL
        since = datetime.fromtimestamp(self._polled_at - OVERLAP, UTC)
        found = self._listing("" if renew else since.isoformat())
        if renew:
            self._servers, self._renewed_at = {}, now
        # Nova lists a server that is just being made more than once, as a request and as a server.
        for server in found:
            if server["status"] == "DELETED":
                self._servers.pop(server["id"], None)
            else:
                self._servers[server["id"]] = server
        self._polled_at = now
        return list(self._servers.values())
