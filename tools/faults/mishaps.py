"""What else goes wrong in a cloud: each happens once, at an instant of its own."""

import random
from abc import abstractmethod

from nova_twotier.cloud.servers import JOB_KEY
from nova_twotier.db.states import JobState
from nova_twotier.db.store import Store
from nova_twotier.tools.faults.databases import Database
from nova_twotier.tools.faults.gate import Gate
from nova_twotier.tools.faults.journal import Journal
from nova_twotier.tools.faults.proxy import Fault, Request
from nova_twotier.tools.faults.trouble import Trouble

TASK, HOST = "OS-EXT-STS:task_state", "OS-EXT-SRV-ATTR:host"
#: Seconds between two polls for a victim.
LOOK = 0.5


class Mishap(Trouble):
    """
    :param at: seconds from the start of the run until it happens.
    """

    def __init__(self, at: float, journal: Journal):
        super().__init__()
        self.at = at
        self.journal = journal
        self.happened = False

    def make(self) -> None:
        if not self.over.wait(self.at):
            self.happen()

    @abstractmethod
    def happen(self) -> None:
        """Also what makes it good again; `over` cuts the time between them short."""


class Outage(Mishap):
    """A service is away: an interposer of its proxy."""

    def __init__(self, at: float, journal: Journal, service: str, seconds: float):
        super().__init__(at, journal)
        self._service = service
        self._seconds = seconds
        self._away = False

    def happen(self) -> None:
        self.journal.write(f"{self._service} down")
        self._away = self.happened = True
        self.over.wait(self._seconds)
        self._away = False
        self.journal.write(f"{self._service} up")

    def before(self, request: Request) -> Fault | None:
        return Fault.DROPPED if self._away else None

    def after(self, request: Request) -> None:
        """What the service has carried out before it went away is answered."""


class Victims:
    """Servers of jobs that count as running, as the queue and Nova tell."""

    def __init__(self, store: Store, nova, chance: random.Random):
        self._store = store
        self._nova = nova
        self._chance = chance

    def draw(self):
        """One of them, as novaclient has it, or None if there is none."""
        running = {job.uuid for job in self._store.jobs() if job.state == JobState.RUNNING}
        servers = [
            server
            for server in self._nova.servers.list(search_opts={"all_tenants": 1})
            if server.metadata.get(JOB_KEY) in running
            and server.status == "ACTIVE"
            and not getattr(server, TASK)
        ]
        return self._chance.choice(sorted(servers, key=lambda s: s.name)) if servers else None


class ServerLoss(Mishap):
    """Somebody deletes a server of a running job."""

    def __init__(self, at: float, journal: Journal, victims: Victims, nova):
        super().__init__(at, journal)
        self._victims = victims
        self._nova = nova

    def happen(self) -> None:
        while not (server := self._victims.draw()):
            if self.over.wait(LOOK):
                return
        self._nova.servers.delete(server.id)
        self.happened = True
        self.journal.write("server deleted", f"{server.name} {server.id}")


class HostDeath(Mishap):
    """A host with a server of a running job dies, and comes back after some time.

    :param dead: its name is put there, for the guests.
    """

    def __init__(
        self, at: float, journal: Journal, victims: Victims, nova, dead: set[str], seconds: float
    ):
        super().__init__(at, journal)
        self._victims = victims
        self._nova = nova
        self._dead = dead
        self._seconds = seconds

    def happen(self) -> None:
        while not (server := self._victims.draw()):
            if self.over.wait(LOOK):
                return
        host = getattr(server, HOST)
        [service] = self._nova.services.list(host=host, binary="nova-compute")
        self._dead.add(host)
        self._nova.services.force_down(service.id, True)
        self.happened = True
        self.journal.write("host down", host)
        try:
            self.over.wait(self._seconds)
        finally:
            self._nova.services.force_down(service.id, False)
            self._dead.discard(host)
            self.journal.write("host up", host)


class DatabaseRestart(Mishap):
    """The manager's connections end on the server's side, and for a while there are no new ones."""

    def __init__(self, at: float, journal: Journal, gate: Gate, database: Database, seconds: float):
        super().__init__(at, journal)
        self._gate = gate
        self._database = database
        self._seconds = seconds

    def happen(self) -> None:
        # The manager may just be starting, and have none.
        while not (ended := self._database.cut(self._gate.server_side())):
            if self.over.wait(LOOK):
                return
        self._gate.shut()
        self.happened = True
        self.journal.write("database down", f"{ended} connections ended")
        self.over.wait(self._seconds)
        self._gate.open()
        self.journal.write("database up")
