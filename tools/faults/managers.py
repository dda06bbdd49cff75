"""The queue managers of a run, and its API: processes behind proxies and gates of their own."""

import contextlib
import pathlib
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from nova_twotier.tools.faults import clock
from nova_twotier.tools.faults.databases import Database
from nova_twotier.tools.faults.files import configure
from nova_twotier.tools.faults.gate import Gate
from nova_twotier.tools.faults.proxy import Proxy
from nova_twotier.tools.faults.split import LedgerWatch, Manager
from nova_twotier.tools.replay.supervisor import Supervisor, python

#: Seconds after which the manager gives up on a request, and for which a proxy holds one back.
TIMEOUT = 4.0
HOLD = TIMEOUT + 1.0
#: The lease of a leader in seconds, where there are several managers.
LEASE = 2


@dataclass(frozen=True)
class Workshop:
    """Sets processes up; what they need ends with the stack.

    :param info: content of the cloud's `cloud.json`.
    :param queue: the database, if it is on a server; `url`: where it is, for those in no gate.
    :param options: of the managers, group `[manager]`.
    :param say: called with a line whenever a process was restarted.
    """

    stack: contextlib.ExitStack
    info: dict
    out: pathlib.Path
    queue: Database | None
    url: str
    options: Mapping
    say: Callable[[str], None]

    def manager(
        self, number: int, several: bool, identity: Gate | None, offset: pathlib.Path | None
    ) -> Manager:
        """A manager that is not started yet.

        :param offset: the file that says how wrong its clock is; None: it is right.
        :param several: whether it stands for election among others.
        :param identity: the gate before Keystone, where there is one.
        """
        gate = self._gate(self.queue.host, self.queue.port) if self.queue else None
        url = self.queue.url(gate.port) if self.queue else self.url
        proxies = {name: self._proxy(name) for name in ("compute", "placement")}
        login = {"auth_url": f"http://127.0.0.1:{identity.port}/v3"} if identity else {}
        sections = {
            "nova": {
                "endpoint_override": proxies["compute"].url,
                "timeout": TIMEOUT,
                **login,
            },
            "placement": {"endpoint_override": proxies["placement"].url, **login},
            "database": {"connection": url},
            "manager": self.options,
        }
        if several:
            # tooz has its own drivers, and names them by the server alone.
            server, _plus, _driver = url.partition("://")[0].partition("+")
            backend = f"{server}://{url.partition('://')[2]}"
            sections["coordination"] = {"backend_url": backend, "lease": LEASE}
        name = f"manager{number or ''}"
        files = configure(self.info, self.out, f"{name}.conf", sections)
        argv = python("nova_twotier.cmd.manager", *files)
        if offset:
            clock.set_offset(offset, 0)
            argv = python("nova_twotier.tools.faults.clock", str(offset), *files)
        supervisor = Supervisor(name, argv, self.out / f"{name}.log", self.say)
        return Manager(supervisor, gate, LedgerWatch(), proxies)

    def api(self) -> tuple[int, Supervisor]:
        """The REST API and its port; it is not started yet."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        sections = {
            "database": {"connection": self.url},
            "api": {"auth_strategy": "noauth", "listen": "127.0.0.1", "port": port},
        }
        argv = python("nova_twotier.cmd.api", *configure(self.info, self.out, "api.conf", sections))
        return port, Supervisor("API", argv, self.out / "api.log", self.say)

    def identity(self) -> Gate:
        address = urlsplit(self.info["urls"]["identity"])
        return self._gate(address.hostname, address.port)

    def _gate(self, host: str, port: int) -> Gate:
        return self.stack.enter_context(Gate(host, port))

    def _proxy(self, service: str) -> Proxy:
        return self.stack.enter_context(Proxy(service, self.info["urls"][service], [], HOLD))
