"""Faults of Nova and Glance: no room for images, a cell or a conductor that is gone."""

from nova_twotier.db.states import JobState
from nova_twotier.tools.faults.mishaps import LOOK, Mishap
from nova_twotier.tools.faults.site import HOST, TASK, Site

#: Seconds between two times at which the hosts look whether their guests are up.
SYNC = 2.0
#: Seconds after which a server that is still to be unshelved has been forgotten.
FORGOTTEN = 20.0


class UploadFailure(Mishap):
    """No image is taken for a while: a server that is shelved is powered off, and stays there.

    :param seconds: for which it goes on once a job is preempted; it waits for the first one.
    """

    kind = "image uploads"

    def __init__(self, at: float, site: Site, seconds: float):
        super().__init__(at, site)
        self._seconds = seconds

    def happen(self) -> None:
        self.site.control.uploads(accepted=False)
        self.note("fail")
        left = self._seconds
        try:
            while left > 0 and not self.over.wait(SYNC):
                self._find_guests_that_are_off()
                self.happened |= bool(self.site.store.jobs(state=JobState.PREEMPTING))
                left -= SYNC * self.happened
        finally:
            self.site.control.uploads(accepted=True)
            self._find_guests_that_are_off()
            self.note("succeed")

    def _find_guests_that_are_off(self) -> None:
        for host in self.site.hosts:
            self.site.control.host(host, "up")


class CellOutage(Mishap):
    """The database of Nova's cell is away for its API, while the hosts run on."""

    kind = "cell"

    def __init__(self, at: float, site: Site, seconds: float):
        super().__init__(at, site)
        self._seconds = seconds

    def make(self) -> None:
        super().make()
        if self.happened:
            before = self._not_coming_back()
            self.over.wait(FORGOTTEN)
            if forgotten := before & self._not_coming_back():
                self.site.harm.struck.update(forgotten)
                self.note("forgot", f"{len(forgotten)} servers that were to be brought back")

    def happen(self) -> None:
        self.site.control.cell(answers=False)
        self.happened = True
        self.note("down")
        try:
            self.over.wait(self._seconds)
        finally:
            self.site.control.cell(answers=True)
            self.note("up")

    def _not_coming_back(self) -> set[str]:
        """Saved servers that are to be unshelved, and have no host yet."""
        found = self.site.servers()
        return {
            server.id
            for server in found
            if getattr(server, TASK) == "unshelving" and not getattr(server, HOST)
        }


class ConductorDeath(Mishap):
    """A nova-conductor dies while it boots a job: Nova has made the servers, and forgets them.

    It waits for the first job that is booted.
    """

    kind = "conductor"

    def happen(self) -> None:
        control = self.site.control
        control.conductor(deaths=1)
        while control.conductor():
            if self.over.wait(LOOK):
                return
        self.happened = True
        self.note("dead", "a boot is left half done")
