"""Reads what guests write to their serial consoles."""

import time

from keystoneauth1 import exceptions as ksa_exc
from novaclient.v2.client import Client

from nova_twotier.cloud.errors import NotYet
from nova_twotier.cloud.servers import Server

#: Lines that are searched for a report: a guest that shuts down logs a lot.
LINES = 1000
#: Timeout in seconds of a request that an action waits for.
TIMEOUT = 5.0
#: Seconds for which a host that timed out is not asked again: the timeout of Nova's own RPC.
PAUSE = 60.0


class Consoles:
    """The serial consoles of servers; a host that does not answer is left alone for a while.

    Methods raise the errors of novaclient.
    """

    def __init__(self, nova: Client):
        self._nova = nova
        #: Until when hosts are not asked, by a monotonic clock.
        self._silent_until: dict[str | None, float] = {}

    def read(self, server: Server, lines: int, timeout: float) -> str:
        """The last lines of a server's serial console; see `Cloud.console_log`."""
        if time.monotonic() < self._silent_until.get(server.host, 0.0):
            raise NotYet(f"host {server.host} does not answer for the console of its servers")
        try:
            # novaclient's own method has no timeout.
            _answer, shown = self._nova.client.post(
                f"/servers/{server.id}/action",
                body={"os-getConsoleOutput": {"length": lines}},
                timeout=timeout,
            )
        except ksa_exc.ConnectTimeout:
            self._silent_until[server.host] = time.monotonic() + PAUSE
            raise
        return shown["output"] or ""
