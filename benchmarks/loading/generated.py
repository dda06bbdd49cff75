"""Nova and Placement that answer from memory, with no sockets, and count what they are asked."""

import io
import itertools
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

import requests
from requests.adapters import BaseAdapter

from nova_twotier.cloud.servers import JOB_KEY
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names

from .cloudless import ServerCache

NOVA, PLACEMENT = "http://nova.test/v2.1", "http://placement.test"
#: Items on a page of Nova.
PAGE = 1000
FLAVOR = {"original_name": "slot", "extra_specs": {"resources:CUSTOM_TWOTIER_SLOT": "1"}}


class Generated(BaseAdapter):
    """Answers as Nova and Placement would that have a fleet. Only `touch` changes a server.

    :param seconds: how long an answer takes for each item in it, by the last part of the path.
    """

    def __init__(self, fleet: ServerCache, seconds: dict[str, float]):
        super().__init__()
        self._seconds = seconds
        self._lock = threading.Lock()
        #: Requests by thread and path without ids, and the CPU time of answering by thread.
        self.asked: Counter[tuple[int, str]] = Counter()
        self.cpu: Counter[int] = Counter()
        self._roots = {host.name: str(_uuid(f"host {host.name}")) for host in fleet.hosts}
        self._beat = itertools.count()
        self._make_nova(fleet)
        self._make_placement(fleet)

    def _make_nova(self, fleet: ServerCache) -> None:
        shown = (_server(each) for gang in fleet._servers.values() for each in gang.values())
        self._servers = {each["id"]: json.dumps(each).encode() for each in shown}
        #: The servers that have changed, as long as Nova lists them for that.
        self._changed: list[str] = []
        slots = fleet.hosts[0].shape.slots
        self._collections = {
            "os-hypervisors/detail": [_hypervisor(host, self._roots) for host in self._roots],
            "os-services": [_service(host) for host in self._roots],
            "os-aggregates": [
                {
                    "name": "slots",
                    "hosts": list(self._roots),
                    "metadata": {"twotier:slots": str(slots), "twotier:tiers": "2"},
                }
            ],
            "flavors/detail": [{"id": "f1", "name": "slot", **FLAVOR}],
        }

    def _make_placement(self, fleet: ServerCache) -> None:
        place = {}
        for host in fleet.hosts:
            for tier, provider in host.provider.items():
                place[provider] = names.child_uuid(self._roots[host.name], tier)
        self._claims: dict[str, dict] = {child: {} for child in place.values()}
        for vm, held in fleet.ledger.held.items():
            for provider, resources in held.items():
                if provider in place:
                    self._claims[place[provider]][vm] = {"resources": resources}
        self._slots = fleet.hosts[0].shape.slots
        root = {name: _provider(name, uuid, None) for name, uuid in self._roots.items()}
        child = {
            tier: [
                _provider(names.child_name(name, tier), names.child_uuid(uuid, tier), uuid)
                for name, uuid in self._roots.items()
            ]
            for tier in Tier
        }
        jobs = [_provider(names.jobs_name(), names.jobs_uuid(), None)]
        both = [*itertools.chain.from_iterable(child.values())]
        marks = {names.TRAIT[tier]: found for tier, found in child.items()}
        marks[names.size_trait(self._slots)] = both
        marks[names.pool_trait(names.jobs_uuid())] = both
        marks[names.size_trait(2**31 - 1)] = jobs
        self._marked = {
            mark: _encoded("resource_providers", found) for mark, found in marks.items()
        }
        self._all = _encoded("resource_providers", [*root.values(), *both, *jobs])
        self._beats = [_encoded("resource_providers", child[Tier.FG][half::2]) for half in (0, 1)]

    def close(self) -> None:
        """There is nothing to close."""

    def touch(self) -> None:
        """A server changes, in nothing that matters."""
        uuid = next(iter(self._servers))
        shown = json.loads(self._servers[uuid])
        shown["description"] = f"{shown['description'] or ''}."
        self._servers[uuid] = json.dumps(shown).encode()
        self._changed = [uuid]

    def send(self, request, **_options) -> requests.Response:
        began, thread = time.thread_time(), threading.get_ident()
        parts = urlsplit(request.url)
        query = dict(parse_qsl(parts.query))
        if request.url.startswith(NOVA):
            path = parts.path.removeprefix("/v2.1/")
            body, items = self._nova(path, query)
        else:
            path = parts.path.removeprefix("/")
            body, items = self._placement(path, query, request)
        answer = requests.Response()
        answer.status_code, answer.url, answer.request = 200, request.url, request
        answer.headers["Content-Type"] = "application/json"
        answer.raw = io.BytesIO(body)
        answer._content = body
        with self._lock:
            self.asked[thread, _kind(path)] += 1
            self.cpu[thread] += time.thread_time() - began
        time.sleep(items * self._seconds.get(path, 0.0))
        return answer

    def _nova(self, path: str, query: dict[str, str]) -> tuple[bytes, int]:
        if path == "servers/detail":
            return self._list_servers(query)
        if path.startswith("servers/"):
            return b'{"server": ' + self._servers[path.removeprefix("servers/")] + b"}", 1
        found = self._collections[path]
        marker = query.get("marker")
        found = [] if marker else found
        return _encoded(path.partition("/")[0].removeprefix("os-"), found), len(found)

    def _list_servers(self, query: dict[str, str]) -> tuple[bytes, int]:
        ids: Iterable[str] = self._changed if "changes-since" in query else self._servers
        if marker := query.get("marker"):
            ids = itertools.islice(itertools.dropwhile(lambda each: each != marker, ids), 1, None)
        page = list(itertools.islice(ids, PAGE))
        shown = b", ".join(self._servers[each] for each in page)
        return b'{"servers": [' + shown + b"]}", len(page)

    def _placement(self, path: str, query: dict[str, str], request) -> tuple[bytes, int]:
        if request.method != "GET":
            return b"{}", 0
        if path == "resource_providers":
            trait = query.get("required")
            if trait == names.HEARTBEAT_TRAIT:
                return self._beats[next(self._beat) % 2], 0
            return (self._marked.get(trait) or _encoded(path, [])) if trait else self._all, 0
        _collection, provider, part = path.split("/")
        if part == "allocations":
            held = {"allocations": self._claims[provider], "resource_provider_generation": 1}
            return json.dumps(held).encode(), 1
        inventory = {"total": self._slots, "reserved": 0, "allocation_ratio": 1.0}
        shown = {"inventories": {names.SLOT: inventory}, "resource_provider_generation": 1}
        return json.dumps(shown).encode(), 1


def _uuid(name: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_DNS, name)


def _kind(path: str) -> str:
    """The kind of a request: its path, with `*` for ids and names."""
    first, *rest = path.split("/")
    return "/".join([first, *("*" if len(each) > 20 or "_" in each else each for each in rest)])


def _encoded(name: str, found: list) -> bytes:
    return json.dumps({name.replace("-", "_"): found}).encode()


def _server(server) -> dict:
    """As Nova shows it to an administrator, without the addresses of a real one."""
    return {
        "id": server.id,
        "name": f"tt-{server.id}",
        "status": server.status,
        "tenant_id": "demo",
        "user_id": "demo",
        "metadata": {JOB_KEY: server.job},
        "image": {"id": "8c0d7d7e-6f5e-4c3c-9a3b-1f2e3d4c5b6a", "links": []},
        "flavor": {**FLAVOR, "vcpus": 1, "ram": 2048, "disk": 20, "ephemeral": 0, "swap": 0},
        "created": "2026-11-01T10:00:00Z",
        "updated": "2026-11-01T10:00:10Z",
        "hostId": "7b4a3c2f0d9e8b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d",
        "addresses": {
            "private": [
                {
                    "version": 4,
                    "addr": "10.0.0.5",
                    "OS-EXT-IPS:type": "fixed",
                    "OS-EXT-IPS-MAC:mac_addr": "fa:16:3e:aa:bb:cc",
                }
            ]
        },
        "accessIPv4": "",
        "accessIPv6": "",
        "locked": True,
        "locked_reason": None,
        "key_name": None,
        "description": None,
        "tags": [],
        "security_groups": [{"name": "default"}],
        "os-extended-volumes:volumes_attached": [],
        "OS-EXT-SRV-ATTR:launch_index": server.index,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": server.host,
        "OS-EXT-SRV-ATTR:host": server.host,
        "OS-EXT-SRV-ATTR:reservation_id": "r-12345678",
        "OS-EXT-SRV-ATTR:hostname": f"tt-{server.id}",
        "OS-EXT-STS:task_state": server.task,
        "OS-EXT-STS:vm_state": server.vm_state or "active",
        "OS-EXT-STS:power_state": 1,
        "OS-SRV-USG:launched_at": "2026-11-01T10:00:10.000000",
        "OS-SRV-USG:terminated_at": None,
        "OS-EXT-AZ:availability_zone": "nova",
        "host_status": "UP",
    }


def _hypervisor(name: str, roots: dict[str, str]) -> dict:
    service = {"host": name, "id": roots[name], "disabled_reason": None}
    return {
        "id": roots[name],
        "hypervisor_hostname": name,
        "hypervisor_type": "QEMU",
        "state": "up",
        "status": "enabled",
        "service": service,
        "cpu_info": {"arch": "x86_64", "topology": {"cores": 16, "threads": 1, "sockets": 1}},
    }


def _service(host: str) -> dict:
    return {
        "id": str(_uuid(f"service {host}")),
        "host": host,
        "binary": "nova-compute",
        "zone": "nova",
        "state": "up",
        "status": "enabled",
        "updated_at": "2026-11-26T10:00:00.000000",
        "disabled_reason": None,
        "forced_down": False,
    }


def _provider(name: str, uuid: str, parent: str | None) -> dict:
    links = [{"rel": rel, "href": f"/resource_providers/{uuid}/{rel}"} for rel in _RELS]
    return {
        "uuid": uuid,
        "name": name,
        "parent_provider_uuid": parent,
        "root_provider_uuid": parent or uuid,
        "generation": 1,
        "links": links,
    }


_RELS = ("self", "inventories", "usages", "aggregates", "traits", "allocations")
