"""The server cache: all servers of Nova, kept up to date by listing only those that changed.

Nova builds its answer server by server: listing all of them every second would keep it busy.
"""

from collections.abc import Callable, Set
from datetime import UTC, datetime

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.reader import Document

#: Seconds by which a listing of changes overlaps the previous one: clocks differ, and a change
#: becomes visible a little after its timestamp.
OVERLAP = 5.0
#: Seconds after which everything is listed again: a server deleted before it was built does not
#: show up as a change.
RENEWAL = 10.0
#: Status of a deleted server that Nova still shows to administrators.
_GONE = frozenset({"DELETED", "SOFT_DELETED"})


class ServerCache:
    """Keeps servers that Nova merely does not list: their cell may be down.

    Nova lists such servers, as UNKNOWN, only on its first page.

    :param listing: `Reader.servers`.
    :param show: `Reader.server`.
    """

    def __init__(
        self,
        listing: Callable[[str], list[Document]],
        show: Callable[[str], Document | None],
    ):
        self._listing, self._show = listing, show
        self._servers: dict[str, Document] = {}
        #: Those of the known servers that Nova has confirmed as gone.
        self._gone: set[str] = set()
        self._renewed_at: float | None = None
        self._polled_at = 0.0

    def poll(self, now: float, known: Set[str] = frozenset()) -> list[Document]:
        """All servers of all projects, each once.

        :param known: ids of servers that have existed.
        :raises CloudError: if a cell is down: its servers may have changed unseen.
        """
        # A negative age means that the clock was set back.
        renew = self._renewed_at is None or not 0 <= now - self._renewed_at < RENEWAL
        since = datetime.fromtimestamp(self._polled_at - OVERLAP, UTC)
        found = self._listing("" if renew else since.isoformat())
        _require_known(found)
        gone = {server["id"] for server in found if server["status"] in _GONE}
        if renew:
            listed = {server["id"] for server in found}
            for uuid in (self._servers.keys() | known) - listed - self._gone:
                shown = self._show(uuid)
                if shown is None or shown["status"] in _GONE:
                    gone.add(uuid)
                else:
                    _require_known([shown])
                    found.append(shown)
            self._servers, self._renewed_at = {}, now
        # Nova may list a server that is being built twice, as a build request and as a server.
        self._servers.update((server["id"], server) for server in found)
        for uuid in gone:
            self._servers.pop(uuid, None)
        self._gone = (self._gone | gone) & known
        self._polled_at = now
        return list(self._servers.values())


def _require_known(found: list[Document]) -> None:
    if any(server["status"] == "UNKNOWN" for server in found):
        raise CloudError("a cell of Nova does not answer, so that its servers are not known")
