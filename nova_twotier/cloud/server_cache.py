"""The server cache: all servers of Nova, kept up to date by listing only those that changed.

Nova builds its answer server by server, so that listing all of them takes half a minute in a large
cloud. Only the first poll waits for that; afterwards a thread lists all of them now and then, while
each poll lists the changes.

If that list of all fails, no poll succeeds until another one does. The changes alone would not do:
they show neither that a cell is down, whose servers may then change unseen, nor that a server was
deleted before it was built. A boot whose servers are not to be seen would be repeated.

A nova-conductor that dies while it makes servers leaves them in a cell without telling which.
Even after they are deleted, Nova lists them for ever, although `show` finds none of them: they
count as gone. So do requests for servers that were deleted before a nova-conductor that failed had
noted that it had made them. Nova lists these among the changes, too, each time.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Set
from datetime import UTC, datetime
from typing import NamedTuple

from oslo_log import log as logging

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.listing import Lister, Listing
from nova_twotier.cloud.reader import Document
from nova_twotier.cloud.servers import seconds

LOG = logging.getLogger(__name__)

#: Seconds by which a listing of changes overlaps the previous one: clocks differ, and a change
#: becomes visible a little after its timestamp.
OVERLAP = 5.0
#: Seconds after which everything is listed again: a server deleted before it was built does not
#: show up as a change.
RENEWAL = 10.0
#: Most of the time for which Nova is kept busy with listing everything.
SHARE = 0.1
#: Seconds after which a server that has no host yet may have been forgotten.
FORGETTING = 60.0
#: Status of a deleted server that Nova still shows to administrators.
_GONE = frozenset({"DELETED", "SOFT_DELETED"})


class _Listed(NamedTuple):
    """What a listing of all servers has found.

    :ivar servers: those that are not as they were before.
    :ivar gone: the ids of those that are gone.
    :ivar forgotten: those of them that Nova lists but cannot show.
    """

    servers: list[Document]
    gone: set[str]
    forgotten: frozenset[str]


class ServerCache:
    """Keeps servers that Nova merely does not list: their cell may be down.

    Nova lists such servers, as UNKNOWN, only on its first page.

    :param listing: `Reader.each_server`.
    :param show: `Reader.server`.
    :param lister: lists all servers while polls go on.
    """

    def __init__(
        self,
        listing: Callable[[str], Iterable[Document]],
        show: Callable[[str], Document | None],
        lister: Lister | None = None,
    ):
        self._each, self._show = listing, show
        self._lister = lister or Lister()
        self._listing: Listing[_Listed] = Listing(self._lister)
        self._servers: dict[str, Document] = {}
        #: Those of the known servers that Nova has confirmed as gone.
        self._gone: set[str] = set()
        #: Those that the last listing of all servers had, but that Nova cannot show.
        self._forgotten: Set[str] = frozenset()
        #: When the last listing of all servers began, and from when on it may be repeated; None:
        #: none has succeeded yet.
        self._renewed_at: float | None = None
        self._due_at = self._began_at = 0.0
        #: The error of the last listing of all servers; None if it has succeeded.
        self._error: Exception | None = None
        #: The servers that polls saw change since a listing of all began: it may have seen them as
        #: they were before.
        self._changed: set[str] = set()
        self._polled_at = 0.0
        #: Goes up whenever a server is not as it was.
        self.version = 0

    def poll(self, now: float, known: Set[str] = frozenset()) -> Collection[Document]:
        """All servers of all projects, each once. An unchanged server is the same object as before.

        :param known: ids of servers that have existed.
        :raises CloudError: if a cell is down: its servers may have changed unseen. Also if the last
            listing of all servers has failed, which is repeated at once.
        """
        # A negative age means that the clock was set back.
        if self._renewed_at is None or now < self._renewed_at:
            self._listing.drop()
            self._begin(now)
            listed = self._list({}, (self._servers.keys() | known) - self._gone)
            self._apply(listed.servers, listed.gone)
            self._renewed(now, listed)
        else:
            since = datetime.fromtimestamp(self._polled_at - OVERLAP, UTC)
            found = {each["id"]: each for each in self._each(since.isoformat())}
            _require_known(found.values())
            # An old request is listed whether or not it has changed.
            old = {uuid for uuid, each in found.items() if self._is_old_request(each)}
            for uuid in old & self._forgotten:
                del found[uuid]
            gone = {uuid for uuid, each in found.items() if each["status"] in _GONE}
            self._changed.update(found.keys() - old)
            self._apply((each for uuid, each in found.items() if uuid not in gone), gone)
            if not self._listing.under_way and now >= self._due_at:
                self._begin(now)
                before = dict(self._servers)
                expected = (before.keys() | known) - self._gone
                self._listing.begin(lambda: self._list(before, expected))
            if (taken := self._take()) is not None:
                unchanged = (each for each in taken.servers if each["id"] not in self._changed)
                self._apply(unchanged, taken.gone - self._changed)
                self._renewed(now, taken)
        self._gone &= known
        self._polled_at = now
        return self._servers.values()

    def _take(self) -> _Listed | None:
        """:raises Exception: if the last listing of all servers has failed."""
        try:
            if (taken := self._listing.take()) is not None:
                return taken
        except Exception as error:
            self._error = error
        if self._error is not None:
            raise self._error.with_traceback(None)
        return None

    def _begin(self, now: float) -> None:
        self._began_at = now
        self._changed = set()

    def _renewed(self, now: float, listed: _Listed) -> None:
        """A listing of all servers has been applied."""
        self._forgotten = listed.forgotten
        self._renewed_at, self._error = self._began_at, None
        self._due_at = self._began_at + max(RENEWAL, (now - self._began_at) / SHARE)

    def _apply(self, servers: Iterable[Document], gone: Set[str]) -> None:
        for server in servers:
            self._gone.discard(server["id"])
            if self._servers.get(server["id"]) != server:
                self._servers[server["id"]] = server
                self.version += 1
        for uuid in gone:
            if self._servers.pop(uuid, None) is not None:
                self.version += 1
        self._gone |= gone

    def _list(self, before: Mapping[str, Document], expected: Set[str]) -> _Listed:
        """List the servers of all projects, without changing the cache: it may run in a thread."""
        # Nova may list a server that is being built twice, as a build request and as a server.
        found = {each["id"]: each for each in self._lister.collect(self._each(""))}
        _require_known(found.values())
        gone = {uuid for uuid, each in found.items() if each["status"] in _GONE}
        forgotten = set()
        for uuid in [uuid for uuid, each in found.items() if self._is_old_request(each)]:
            [shown] = self._lister.collect([self._show(uuid)])
            if shown is None:
                forgotten.add(uuid)
                if uuid in before:
                    LOG.warning(
                        "Nova lists server %s but cannot show it, probably because a "
                        "nova-conductor died while creating it. It counts as deleted",
                        uuid,
                    )
        for uuid in expected - found.keys():
            [shown] = self._lister.collect([self._show(uuid)])
            if shown is None or shown["status"] in _GONE:
                gone.add(uuid)
            else:
                _require_known([shown])
                found[uuid] = shown
        gone |= forgotten
        news = (each for uuid, each in found.items() if uuid not in gone)
        return _Listed(
            [each for each in news if before.get(each["id"]) != each], gone, frozenset(forgotten)
        )

    def _is_old_request(self, server: Document) -> bool:
        """Whether a server has been waiting for a host for long."""
        if server["status"] != "BUILD" or server.get("OS-EXT-SRV-ATTR:host"):
            return False
        created_at = seconds(server.get("created"))
        return created_at is not None and self._began_at > created_at + FORGETTING


def _require_known(found: Iterable[Document]) -> None:
    if any(server["status"] == "UNKNOWN" for server in found):
        raise CloudError("a cell of Nova does not answer, so that its servers are not known")
