"""Faults of the cloud around the manager, each at an instant of its own."""

from abc import abstractmethod

from nova_twotier.tools.faults.databases import Database
from nova_twotier.tools.faults.gate import Gate
from nova_twotier.tools.faults.proxy import Fault, Request
from nova_twotier.tools.faults.site import HOST, Site
from nova_twotier.tools.faults.trouble import Trouble

#: Seconds between two polls for a victim.
LOOK = 0.5


class Mishap(Trouble):
    """
    :param at: seconds from the start of the run until it happens.
    """

    #: What it is called in the journal and in the report.
    kind = ""

    def __init__(self, at: float, site: Site):
        super().__init__()
        self.at = at
        self.site = site
        self.happened = False

    def make(self) -> None:
        if self.over.wait(self.at):
            return
        self.happen()
        if self.happened:
            self.site.recovery.ended(self.kind)

    @abstractmethod
    def happen(self) -> None:
        """Cause the fault and undo it again; `over` cuts the time between the two short."""

    def problems(self) -> list[str]:
        """The problems that it revealed, when the run is over."""
        return []

    def note(self, what: str, detail: str = "") -> None:
        self.site.journal.write(f"{self.kind} {what}", detail)

    def victim(self):
        """A server of a running job, as soon as there is one; None if the run is over before."""
        while not (server := self.site.victim()):
            if self.over.wait(LOOK):
                return None
        return server


class Outage(Mishap):
    """Services are away: an interposer of their proxies, and the gates of what is not HTTP."""

    def __init__(self, at: float, site: Site, kind: str, seconds: float, gates: tuple = ()):
        super().__init__(at, site)
        self.kind = kind
        self._seconds = seconds
        self._gates: tuple[Gate, ...] = gates
        self._away = False

    def happen(self) -> None:
        self.note("down")
        self.site.harm.outages.add(self)
        self._away = self.happened = True
        for gate in self._gates:
            gate.shut()
        try:
            self.over.wait(self._seconds)
        finally:
            self._away = False
            for gate in self._gates:
                gate.open()
            self.site.harm.outages.discard(self)
            self.note("up")

    def before(self, request: Request) -> Fault | None:
        """The services are those whose proxies have it among their interposers."""
        return Fault.DROPPED if self._away else None

    def after(self, request: Request) -> None:
        """Requests that the service carried out before it went away are answered."""


class ServerLoss(Mishap):
    """Somebody deletes a server of a running job."""

    kind = "server"

    def happen(self) -> None:
        if server := self.victim():
            self.site.nova.servers.delete(server.id)
            self.site.harm.struck.add(server.id)
            self.happened = True
            self.note("deleted", f"{server.name} {server.id}")


class HostDeath(Mishap):
    """A host with a server of a running job dies, and comes back after some time."""

    kind = "host"

    def __init__(self, at: float, site: Site, seconds: float):
        super().__init__(at, site)
        self._seconds = seconds

    def happen(self) -> None:
        if not (server := self.victim()):
            return
        host, nova, harm = getattr(server, HOST), self.site.nova, self.site.harm
        [service] = nova.services.list(host=host, binary="nova-compute")
        harm.dead.add(host)
        nova.services.force_down(service.id, True)
        self.happened = True
        self.note("down", host)
        try:
            self.over.wait(self._seconds)
        finally:
            nova.services.force_down(service.id, False)
            harm.revive((host,))
            self.note("up", host)


class DatabaseRestart(Mishap):
    """The manager's connections end on the server's side, and for a while there are no new ones."""

    kind = "database"

    def __init__(self, at: float, site: Site, gate: Gate, database: Database, seconds: float):
        super().__init__(at, site)
        self._gate = gate
        self._database = database
        self._seconds = seconds

    def happen(self) -> None:
        # The manager may just be starting, and have none.
        while not (ended := self._database.cut(self._gate.server_side())):
            if self.over.wait(LOOK):
                return
        self._gate.shut()
        self.site.harm.outages.add(self)
        self.happened = True
        self.note("down", f"{ended} connections ended")
        self.over.wait(self._seconds)
        self._gate.open()
        self.site.harm.outages.discard(self)
        self.note("up")
