"""Tenants who try to keep their slots, or to confuse the manager, by all means that Nova allows."""

import contextlib
import itertools
import time

import requests
from keystoneauth1 import exceptions as ksa_exc
from novaclient import exceptions as nova_exc

from nova_twotier.cloud.servers import JOB_KEY
from nova_twotier.db.states import JobState
from nova_twotier.tools.faults.mishaps import Mishap
from nova_twotier.tools.faults.site import TASK, Site
from nova_twotier.tools.replay.workload import ReplayJob

#: One job in so many is hostile.
EVERY = 4
#: Seconds between two rounds of mischief, that an upload takes, and that the guests of the hostile
#: jobs take to shut down, as their image says.
ROUND, UPLOAD, SHUTDOWN = 0.3, 3.0, 120
#: Seconds within which the stub of Glance answers.
PATIENCE = 10.0
#: Another member of the project that the servers are in.
TOKEN = "mallory:admin"  # noqa: S105 - the fake cloud reads it as user:project


def is_hostile(job: ReplayJob) -> bool:
    return job.trace_number % EVERY == 0


def deaf_image(url: str) -> str:
    """Create an image whose guests ignore the shutdown; returns its id.

    :param url: of the fake cloud's images.
    """
    image = {
        "name": "deaf",
        "fakecloud_ignores_acpi": "yes",
        "os_shutdown_timeout": str(SHUTDOWN),
    }
    answer = requests.post(f"{url}/v2/images", json=image, timeout=PATIENCE)
    answer.raise_for_status()
    return answer.json()["id"]


class HostileTenants(Mishap):
    """Whoever owns the hostile jobs makes images of their servers without end, writes metadata, and
    holds and releases what waits.

    :param mallory: novaclient of a member, not an administrator.
    """

    kind = "tenants"

    def __init__(self, at: float, site: Site, mallory, seconds: float):
        super().__init__(at, site)
        self._mallory = mallory
        self._seconds = seconds
        #: Of the hostile jobs, as they are submitted.
        self.names: set[str] = set()

    def happen(self) -> None:
        self.site.control.uploads(seconds=UPLOAD)
        try:
            end = time.monotonic() + self._seconds
            for held in itertools.cycle((False, True)):
                if self.over.wait(ROUND) or time.monotonic() > end:
                    break
                self._mischief(held)
        finally:
            self.site.control.uploads()
            self._hold(self._hostile(), held=False)
            self.note("are gone")

    def _hostile(self) -> dict:
        return {job.uuid: job for job in self.site.store.jobs() if job.name in self.names}

    def _hold(self, hostile: dict, held: bool) -> None:
        for job in hostile.values():
            if job.state == JobState.QUEUED or not held:
                self.site.store.hold(job.number, held)

    def _mischief(self, held: bool) -> None:
        hostile = self._hostile()
        self._hold(hostile, held)
        honest = [job.uuid for job in self.site.store.jobs() if job.name not in self.names]
        for server in self.site.servers():
            if server.metadata.get(JOB_KEY) in hostile and server.status == "ACTIVE":
                self._pester(server, honest)

    def _pester(self, server, honest: list[str]) -> None:
        attempts = [lambda: self._mallory.servers.set_meta(server.id, {JOB_KEY: honest[0]})]
        if not getattr(server, TASK):
            attempts.append(lambda: self._mallory.servers.create_image(server.id, "again"))
        for attempt in attempts if honest else ():
            with contextlib.suppress(nova_exc.ClientException, ksa_exc.ClientException):
                attempt()
                if not self.happened:
                    self.note("are at work")
                self.happened = True
