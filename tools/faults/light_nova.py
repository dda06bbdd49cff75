"""Servers without a real Nova: requests take effect at once, in memory.

For more servers than a real Nova boots in an hour. It is a proxy before a fake cloud: claims are
made in that cloud's Placement, which refuses what does not fit; requests that are not about servers
go to its Nova, whose answers are cached for some seconds. A guest runs for some seconds and powers
itself off.
"""

import contextlib
import json
import math
import random
import re
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import requests

from nova_twotier.core.actions import Tier
from nova_twotier.ledger import names, reading
from nova_twotier.ledger.placement import Conflict, NotFound, Placement

#: Seconds for which a deleted server shows among the changes.
REMEMBERED = 30.0
#: Seconds for which an answer of the Nova behind it is cached.
KEPT = 5.0
#: Nova's number for a guest that runs, and one that is off.
RUNNING, OFF = 1, 4
#: Actions that Nova records by another name than they are asked for.
RECORDED = {"os-start": "start", "os-stop": "stop", "os-migrateLive": "live-migration"}


class Servers:
    """All servers and server groups.

    :param hosts: names of the hosts, by the uuid of their providers.
    :param life: seconds that the guests of a new job run.
    """

    def __init__(self, placement: Placement, hosts: dict[str, str], life: Callable[[], float]):
        self._placement = placement
        self._hosts = hosts
        self._life = life
        self._lock = threading.RLock()
        self._servers: dict[str, dict] = {}
        self._changed: dict[str, float] = {}
        #: What was done to each server, newest first.
        self._actions: dict[str, list[dict]] = {}
        #: When the guests of a job are done, by its uuid.
        self._ends: dict[str, float] = {}
        self.groups: dict[str, str] = {}

    def listed(self, since: float | None) -> list[dict]:
        """All that there are, or those that changed since."""
        with self._lock:
            self._pass_time()
            if since is None:
                return [each for each in self._servers.values() if each["status"] != "DELETED"]
            return [self._servers[each] for each, at in self._changed.items() if at >= since]

    def one(self, server: str) -> dict | None:
        with self._lock:
            found = self._servers.get(server)
            return found if found and found["status"] != "DELETED" else None

    def actions(self, server: str) -> list[dict]:
        with self._lock:
            return list(self._actions[server])

    def boot(self, asked: dict, hints: dict) -> str:
        job = hints["twotier:job"]
        with self._lock:
            size = int(asked.get("min_count", 1))
            gang = [self._new(asked, index, size) for index in range(size)]
            self._ends[job] = time.time() + self._life()
            if not self._claim([server["id"] for server in gang], job):
                for server in gang:
                    fault = {"code": 500, "message": "No valid host was found."}
                    self._change(server["id"], status="ERROR", fault=fault)
            return gang[0]["id"]

    def delete(self, server: str) -> None:
        with self._lock:
            with contextlib.suppress(NotFound):
                self._placement.delete(f"/allocations/{server}")
            self._ends.pop(self._servers[server]["metadata"]["twotier_job"], None)
            self._change(server, status="DELETED", **{"OS-EXT-SRV-ATTR:hypervisor_hostname": None})

    def act(self, server: str, action: str, body: dict | None) -> None:
        with self._lock:
            self._record(server, RECORDED.get(action, action))
            match action:
                case "lock" | "unlock":
                    self._change(server, locked=action == "lock")
                case "shelve":
                    self._placement.delete(f"/allocations/{server}")
                    self._power(server, "SHELVED_OFFLOADED", "shelved_offloaded", OFF)
                    self._change(server, **{"OS-EXT-SRV-ATTR:hypervisor_hostname": None})
                case "unshelve":
                    if self._claim([server], self._servers[server]["metadata"]["twotier_job"]):
                        self._power(server, "ACTIVE", "active", RUNNING)
                case "os-migrateLive":
                    job = self._servers[server]["metadata"]["twotier_job"]
                    self._placement.delete(f"/allocations/{server}")
                    self._claim([server], job, (body or {}).get("host"))
                case "os-start":
                    self._power(server, "ACTIVE", "active", RUNNING)
                case "os-stop":
                    self._power(server, "SHUTOFF", "stopped", OFF)

    def mark(self, server: str, metadata: dict) -> dict:
        with self._lock:
            merged = self._servers[server]["metadata"] | metadata
            self._change(server, metadata=merged)
            return merged

    def unmark(self, server: str, key: str) -> None:
        with self._lock:
            self._servers[server]["metadata"].pop(key, None)

    def _new(self, asked: dict, index: int, size: int) -> dict:
        now = _text(time.time())
        server = {
            "id": str(uuid.uuid4()),
            "name": f"{asked['name']}-{index + 1}" if size > 1 else asked["name"],
            "status": "ACTIVE",
            "tenant_id": "admin",
            "user_id": "admin",
            "metadata": dict(asked.get("metadata") or {}),
            "locked": False,
            "created": now,
            "updated": now,
            "OS-EXT-SRV-ATTR:launch_index": index,
            "OS-EXT-SRV-ATTR:hypervisor_hostname": None,
            "OS-EXT-SRV-ATTR:host": None,
            "OS-EXT-STS:task_state": None,
            "OS-EXT-STS:vm_state": "active",
            "OS-EXT-STS:power_state": RUNNING,
            "OS-SRV-USG:launched_at": now,
        }
        self._servers[server["id"]] = server
        self._changed[server["id"]] = time.time()
        self._actions[server["id"]] = []
        self._record(server["id"], "create")
        return server

    def _claim(self, servers: list[str], job: str, host: str | None = None) -> bool:
        """Claim a place for each in the job's tier; returns whether there was room for all."""
        tier = reading.wanted_tier(self._placement.get(f"/allocations/{job}"))
        views = reading.host_views(self._placement.get(reading.CANDIDATES_URL))
        free = [
            root
            for root in self._hosts
            if root in views and host in (None, self._hosts[root])
            for _place in range(views[root].tier(tier).free)
        ]
        if len(free) < len(servers):
            return False
        claims = dict(zip(servers, free, strict=False))
        body = {vm: _allocation(root, Tier(tier)) for vm, root in claims.items()}
        try:
            self._placement.post("/allocations", body)
        except Conflict:
            return False
        for server, root in claims.items():
            name = self._hosts[root]
            at = {"OS-EXT-SRV-ATTR:hypervisor_hostname": name, "OS-EXT-SRV-ATTR:host": name}
            self._change(server, **at)
        return True

    def _record(self, server: str, action: str) -> None:
        entry = {
            "action": action,
            "start_time": _text(time.time()),
            "message": None,
            "request_id": f"req-{uuid.uuid4()}",
        }
        self._actions[server].insert(0, entry)

    def _power(self, server: str, status: str, vm_state: str, power: int) -> None:
        more = {"OS-EXT-STS:vm_state": vm_state, "OS-EXT-STS:power_state": power}
        self._change(server, status=status, **more)

    def _change(self, server: str, **values) -> None:
        now = time.time()
        self._servers[server] = self._servers[server] | values | {"updated": _text(now)}
        self._changed[server] = now

    def _pass_time(self) -> None:
        """Power off guests that are done; forget servers that were deleted long ago."""
        now = time.time()
        for server in list(self._servers.values()):
            end = self._ends.get(server["metadata"].get("twotier_job"), now + 1)
            if server["status"] == "ACTIVE" and end <= now:
                # As nova-compute does with a guest that it finds off.
                self._record(server["id"], "stop")
                self._power(server["id"], "SHUTOFF", "stopped", OFF)
            elif server["status"] == "DELETED" and self._changed[server["id"]] < now - REMEMBERED:
                for known in (self._servers, self._changed, self._actions):
                    del known[server["id"]]


class LightNova:
    """Serves `servers` on a loopback port of its own while it is entered.

    :param behind: URL of the Nova that answers all other requests.
    """

    def __init__(self, servers: Servers, behind: str):
        self.servers = servers
        self.behind = behind.rstrip("/")
        #: The cached answers and their times, by path.
        self.answers: dict[str, tuple[float, tuple]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.nova = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        path = urlsplit(self.behind).path
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _handle(self):
        nova = self.server.nova
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        address = urlsplit(self.path)
        path = address.path.removeprefix(urlsplit(nova.behind).path)
        query = {key: values[-1] for key, values in parse_qs(address.query).items()}
        status, answer = self._answer(nova, path.strip("/").split("/"), query, body)
        payload = b"" if answer is None else json.dumps(answer).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_POST = do_PUT = do_DELETE = _handle

    def _answer(self, nova: LightNova, path: list[str], query: dict, body: dict):
        servers = nova.servers
        match self.command, path:
            case "GET", ["servers", "detail"]:
                since = query.get("changes-since")
                at = datetime.fromisoformat(since).timestamp() if since else None
                return 200, {"servers": [] if "marker" in query else servers.listed(at)}
            case "POST", ["servers"]:
                first = servers.boot(body["server"], body.get("os:scheduler_hints", {}))
                return 202, {"server": {"id": first, "links": [], "adminPass": ""}}
            case _, ["servers", server, *_] if servers.one(server) is None:
                return 404, {"itemNotFound": {"code": 404, "message": f"no server {server}"}}
            case "GET", ["servers", server]:
                return 200, {"server": servers.one(server)}
            case "GET", ["servers", server, "os-instance-actions"]:
                known = [] if "marker" in query else servers.actions(server)
                return 200, {"instanceActions": known}
            case "DELETE", ["servers", server]:
                servers.delete(server)
                return 204, None
            case "POST", ["servers", server, "action"]:
                [(action, details)] = body.items()
                if action == "forceDelete":
                    servers.delete(server)
                else:
                    servers.act(server, action, details)
                return 202, None
            case "POST", ["servers", server, "metadata"]:
                return 200, {"metadata": servers.mark(server, body["metadata"])}
            case "DELETE", ["servers", server, "metadata", key]:
                servers.unmark(server, key)
                return 204, None
            case "GET", ["os-server-groups"]:
                groups = list(servers.groups.items())[int(query.get("offset", 0)) :]
                return 200, {"server_groups": [{"id": i, "name": n} for i, n in groups]}
            case "POST", ["os-server-groups"]:
                group = str(uuid.uuid4())
                servers.groups[group] = body["server_group"]["name"]
                return 200, {"server_group": {"id": group, **body["server_group"]}}
            case "DELETE", ["os-server-groups", group]:
                servers.groups.pop(group, None)
                return 204, None
        return self._forward(nova)

    def _forward(self, nova: LightNova):
        kept_at, answer = nova.answers.get(self.path, (-math.inf, None))
        if self.command != "GET" or time.monotonic() > kept_at + KEPT:
            answer = self._ask(nova)
            nova.answers[self.path] = time.monotonic(), answer
        return answer

    def _ask(self, nova: LightNova):
        root = urlsplit(nova.behind)
        kept = ("X-Auth-Token", "OpenStack-API-Version", "X-OpenStack-Nova-API-Version")
        headers = {name: value for name in kept if (value := self.headers.get(name))}
        url = f"{root.scheme}://{root.netloc}{self.path}"
        answer = requests.request(self.command, url, headers=headers, timeout=60)
        return answer.status_code, answer.json() if answer.content else None

    def log_message(self, *_):
        """There are too many."""


def lives(chance: random.Random, mean: float) -> Callable[[], float]:
    return lambda: chance.uniform(0.5, 1.5) * mean


def _allocation(root: str, tier: Tier) -> dict:
    child = names.child_uuid(root, tier)
    return {
        "allocations": {
            root: {"resources": {"VCPU": 1}},
            child: {"resources": {names.SLOT: 1}},
        },
        "project_id": "admin",
        "user_id": "admin",
        "consumer_generation": None,
        "consumer_type": names.VM_CONSUMER,
    }


def _text(at: float) -> str:
    return re.sub(r"\+00:00$", "Z", datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds"))
