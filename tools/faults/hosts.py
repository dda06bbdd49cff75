"""Faults of compute hosts: silence, a power failure, an evacuation."""

import contextlib
import time

from novaclient import exceptions as nova_exc

from nova_twotier.cloud.servers import JOB_KEY
from nova_twotier.tools.faults.mishaps import Mishap
from nova_twotier.tools.faults.site import HOST, TASK, Site

#: Seconds that Nova has to see that guests are off, and to evacuate a server.
PATIENCE = 30.0


class Silence(Mishap):
    """Hosts send no heartbeats, though their guests run on; again and again, in turn.

    :param groups: the groups of hosts that are silent together, one group after the other.
    :param seconds: that each is silent, and that passes until the next one is.
    """

    def __init__(self, at: float, site: Site, kind: str, groups: list, seconds: float, rest: float):
        super().__init__(at, site)
        self.kind = kind
        self._groups = groups
        self._seconds = seconds
        self._rest = rest

    def happen(self) -> None:
        for group in self._groups:
            self._set(group, "silent")
            self.happened = True
            self.note("silent", ", ".join(group))
            try:
                self.over.wait(self._seconds)
            finally:
                self._set(group, "up")
                self.note("heard of", ", ".join(group))
            if self.over.wait(self._rest):
                return

    def _set(self, group, state: str) -> None:
        for host in group:
            self.site.control.host(host, state)


class PowerFailure(Mishap):
    """Hosts lose their power and are back before Nova has missed them: their guests are off.

    :param everywhere: of all hosts; else of one with a server of a running job.
    """

    def __init__(self, at: float, site: Site, kind: str, seconds: float, everywhere: bool = False):
        super().__init__(at, site)
        self.kind = kind
        self._seconds = seconds
        self._everywhere = everywhere

    def happen(self) -> None:
        if not (server := self.victim()):
            return
        hosts = self.site.hosts if self._everywhere else (getattr(server, HOST),)
        off = _lose_power(self.site, hosts)
        self.happened = True
        self.note("off", f"{', '.join(hosts)}: {len(off)} guests")
        try:
            self.over.wait(self._seconds)
        finally:
            for host in hosts:
                self.site.control.host(host, "up")
            _wait(lambda: not self._believed_up(off))
            self.site.harm.revive(hosts)
            self.note("on", ", ".join(hosts))

    def _believed_up(self, off: set[str]) -> bool:
        """Whether Nova shows a server as running whose guest is off, and is not busy with it."""
        found = self.site.servers()
        return any(s.id in off and s.status == "ACTIVE" and not getattr(s, TASK) for s in found)


class Evacuation(Mishap):
    """A host dies, and an operator evacuates its servers: since 2.95 they are off afterwards."""

    kind = "evacuated host"

    def __init__(self, at: float, site: Site, seconds: float):
        super().__init__(at, site)
        self._seconds = seconds

    def happen(self) -> None:
        if not (server := self.victim()):
            return
        site, host = self.site, getattr(server, HOST)
        [service] = site.nova.services.list(host=host, binary="nova-compute")
        _lose_power(site, (host,))
        site.nova.services.force_down(service.id, True)
        self.happened = True
        self.note("down", host)
        try:
            for each in site.nova.servers.list(search_opts={"all_tenants": 1, "host": host}):
                # A server that Nova is busy with is left out; the manager takes care of it.
                with contextlib.suppress(nova_exc.ClientException):
                    site.nova.servers.evacuate(each.id)
                    self.note("left by", f"{each.name} of job {each.metadata.get(JOB_KEY)}")
            self.over.wait(self._seconds)
        finally:
            # Only then does Nova let it be forced up.
            site.control.host(host, "up")
            site.nova.services.force_down(service.id, False)
            site.harm.revive((host,))
            self.note("up", host)


def _lose_power(site: Site, hosts) -> set[str]:
    """Cut the power; returns the ids of the servers whose guests have lost their work."""
    site.harm.dead.update(hosts)
    off = {server for host in hosts for server in site.control.host(host, "off")}
    site.harm.struck.update(off)
    return off


def _wait(condition) -> None:
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.3)
