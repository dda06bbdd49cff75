"""Tells which of Nova's servers belong to jobs, and keeps what was made of unchanged ones."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nova_twotier.cloud.listing import Lister
from nova_twotier.cloud.reader import Document, Reader
from nova_twotier.cloud.server_cache import ServerCache
from nova_twotier.cloud.servers import JOB_KEY, Server, server_of

#: The project and the user of the manager; None if its token does not say.
Own = tuple[str | None, str | None]


@dataclass(frozen=True)
class _Seen:
    """The servers of the last poll.

    :ivar version: of the server cache; -1: of none.
    :ivar own: the project and the user of the manager at that time.
    :ivar made: those of jobs, by id, each with the document that it was made of.
    :ivar unmanaged: those that named no job, as Nova shows them.
    """

    version: int = -1
    own: Own = (None, None)
    made: Mapping[str, tuple[Document, Server]] = field(default_factory=dict)
    servers: Sequence[Server] = ()
    unmanaged: Mapping[str, Document] = field(default_factory=dict)


class JobServers:
    """The servers of jobs of all projects; the docstrings of its methods are in `Cloud`.

    :param own: tells the project and the user of the manager.
    """

    def __init__(self, reader: Reader, own: Callable[[], Own]):
        self._reader, self._own = reader, own
        self._recorded: Mapping[str, str] = {}
        #: The job that each server named when it was first seen.
        self._named: dict[str, str | None] = {}
        self.begin(Lister())

    def begin(self, lister: Lister) -> None:
        self._cache = ServerCache(self._reader.each_server, self._reader.server, lister)
        self._seen = _Seen()

    def remember(self, jobs: Mapping[str, str]) -> None:
        if jobs is not self._recorded:
            self._recorded, self._seen = jobs, replace(self._seen, version=-1)

    def poll(self) -> Sequence[Server]:
        found = self._cache.poll(time.time(), self._recorded.keys())
        own, before = self._own(), self._seen
        if (self._cache.version, own) == (before.version, before.own):
            return before.servers
        self._named = {server["id"]: self._job_of(server) for server in found}
        known = before.made if own == before.own else {}
        made: dict[str, tuple[Document, Server]] = {}
        unmanaged = {}
        for shown in found:
            uuid = shown["id"]
            if (job := self._named[uuid]) is None:
                unmanaged[uuid] = shown
            elif uuid in known and known[uuid][0] is shown and known[uuid][1].job == job:
                made[uuid] = known[uuid]
            else:
                made[uuid] = shown, server_of(shown, job, own)
        servers = [server for _shown, server in made.values()]
        self._seen = _Seen(self._cache.version, own, made, servers, unmanaged)
        return servers

    def unmanaged(self, server: str) -> Server | None:
        shown = self._seen.unmanaged.get(server)
        return None if shown is None else server_of(shown, "", self._own())

    def show(self, uuid: str) -> Server | None:
        shown = self._reader.server(uuid)
        if shown is None:
            return None
        return server_of(shown, self._job_of(shown) or "", self._own())

    def _job_of(self, server: Document) -> str | None:
        """The recorded job, or the one named when the server was first seen: until the server is
        locked, its owner may change the metadata."""
        uuid = server["id"]
        if uuid in self._recorded:
            return self._recorded[uuid]
        return self._named.get(uuid, server.get("metadata", {}).get(JOB_KEY))
