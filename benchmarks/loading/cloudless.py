"""The manager's engine with no cloud behind it: Nova's servers and Placement are in memory."""

import dataclasses
from concurrent.futures import Executor, Future
from types import SimpleNamespace

from nova_twotier.cloud.instance_actions import InstanceAction
from nova_twotier.cloud.servers import Server
from nova_twotier.conf import manager as options_conf
from nova_twotier.core import policies
from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import cpu_points
from nova_twotier.db.models import Job
from nova_twotier.db.store import Store
from nova_twotier.ledger import names
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.tree import Shape, TierHost
from nova_twotier.manager.engine import Engine
from nova_twotier.manager.observation import Observation


class Cloudless(Engine):
    """Sees what is in memory; whatever it asks for is done at once."""

    def __init__(self, store: Store, fleet: "ServerCache", policy: str, **changes):
        """:param changes: to the options of the manager; by default it predicts nothing."""
        defaults = {option.dest: option.default for option in options_conf.OPTS}
        options = SimpleNamespace(**{**defaults, "prediction_interval": 0.0, **changes})
        self._server_cache = fleet
        self._woken = False
        super().__init__(
            options,
            store,
            fleet,
            fleet.ledger,
            policies.get(policy),
            clock=lambda: fleet.now,
            workers=Immediate(),
            wake=self._wake,
        )

    def poll(self) -> bool:
        """Returns whether another poll is due at once, also because a request was answered."""
        self._woken = False
        return super().poll() or self._woken

    def _wake(self) -> None:
        self._woken = True

    def _observe(self, _recorded: object) -> Observation:
        return self._server_cache.seen()


class Immediate(Executor):
    """Makes each request before it returns."""

    def submit(self, work, /, *arguments):
        future = Future()
        future.set_result(work(*arguments))
        return future


class Ledger:
    """Placement that refuses nothing: what each consumer holds, by provider."""

    def __init__(self):
        self.held: dict[str, dict[str, dict[str, int]]] = {}

    def get(self, url: str) -> dict:
        consumer = url.removeprefix("/allocations/")
        return {
            "allocations": {
                provider: {"resources": resources}
                for provider, resources in self.held.get(consumer, {}).items()
            },
            "consumer_type": "unknown",
            "consumer_generation": 1,
            "project_id": "",
            "user_id": "",
        }

    def post(self, _url: str, body: dict) -> dict:
        for consumer, entry in body.items():
            self.held[consumer] = {
                provider: each["resources"] for provider, each in entry["allocations"].items()
            }
        return {}


class ServerCache:
    """Hosts and servers; the part of `cloud.nova.Cloud` that starts, moves and ends jobs.

    :param hosts: how many, each with so many `slots` in either tier.
    :param now: the time, which stands still unless somebody moves it on.
    """

    def __init__(self, hosts: int, slots: int, now: float):
        self.now = now
        self.hosts = tuple(
            TierHost(f"host{number:04}", Shape(slots, 2), {t: f"{number}-{t}" for t in Tier})
            for number in range(hosts)
        )
        self.ledger = Ledger()
        self._slots = slots
        self._place_of = {
            host.provider[tier]: (host.name, tier) for host in self.hosts for tier in Tier
        }
        self._servers: dict[str, dict[str, Server]] = {}

    def seen(self) -> Observation:
        gangs = {job: list(gang.values()) for job, gang in self._servers.items() if gang}
        return Observation(
            at=self.now,
            hosts=self.hosts,
            enabled=frozenset(host.name for host in self.hosts),
            servers=gangs,
            claims=self._claims(),
        )

    def _claims(self) -> dict[str, Claim]:
        claims = {}
        for vm, held in self.ledger.held.items():
            for provider, resources in held.items():
                if provider in self._place_of:
                    host, tier = self._place_of[provider]
                    claims[vm] = Claim(vm, host, tier, resources.get(names.CPU, 0))
        return claims

    def stop(self, job: str) -> None:
        """All processes of a job end."""
        for server in self._servers[job].values():
            self._change(server, status="SHUTOFF")

    # What the manager calls

    boot_request = "req-7c1b1d0e-7d5c-4b7e-9a57-0d1a3b6c2f44"

    def begin(self, _lister) -> None:
        """Nothing is listed."""

    def boot(self, job: Job, _user_data=None, first: bool = False) -> None:
        gang = self._servers[job.uuid] = {}
        tier = self._wanted(job.uuid)
        for index, host in enumerate(self._free(tier, job.size)):
            server = Server(f"{job.uuid}-{index}", job.uuid, index, "ACTIVE", None, host.name)
            gang[server.id] = server
            self._claim(server, host, tier, cpu_points(job.cpu[index]))

    def live_migrate(self, server: Server, host: str) -> None:
        [target] = (each for each in self.hosts if each.name == host)
        [claim] = self.ledger.held[server.id].values()
        self._claim(server, target, self._wanted(server.job), claim[names.CPU])
        self._change(server, host=host)

    def shelve(self, server: Server) -> None:
        del self.ledger.held[server.id]
        self._change(server, status="SHELVED_OFFLOADED", host=None)

    def unshelve(self, server: Server) -> None:
        tier = self._wanted(server.job)
        [host] = self._free(tier, 1)
        self._claim(server, host, tier, 0)
        self._change(server, status="ACTIVE", host=host.name)

    def instance_actions(self, _server: Server) -> list[InstanceAction]:
        """The action log of a server whose guest, if it is off, has powered itself off."""
        return [InstanceAction("stop", self.now), InstanceAction("create", self.now)]

    def booted_at(self, _host: str) -> None:
        """No host tells when it was booted."""

    def delete(self, server: Server) -> None:
        self.ledger.held.pop(server.id, None)
        del self._servers[server.job][server.id]

    def delete_server_group(self, _job: Job) -> None:
        """There is none."""

    def notice(self, server: Server, text: str | None) -> None:
        """Nobody reads it."""

    def _wanted(self, job: str) -> Tier:
        """The tier that a job has in the ledger."""
        [entry] = self.ledger.held[job].values()
        [tier] = (tier for tier, size in names.JOB_SIZE.items() if size in entry)
        return tier

    def _claim(self, server: Server, host: TierHost, tier: Tier, points: int) -> None:
        claim = {names.SLOT: 1, names.CPU: points}
        self.ledger.held[server.id] = {host.provider[tier]: claim}

    def _change(self, server: Server, **values) -> None:
        self._servers[server.job][server.id] = dataclasses.replace(server, **values)

    def _free(self, tier: Tier, count: int) -> list[TierHost]:
        """Hosts of free places, one for each process."""
        taken = {}
        for claim in self._claims().values():
            if claim.tier is tier:
                taken[claim.host] = taken.get(claim.host, 0) + 1
        free = []
        for host in self.hosts:
            free += [host] * (self._slots - taken.get(host.name, 0))
            if len(free) >= count:
                return free[:count]
        raise ValueError(f"{count} places in {tier} wanted, {len(free)} free")
