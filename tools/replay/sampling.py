"""Reads the state of Nova and Placement without the manager."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from keystoneauth1 import exceptions as ksa_exc
from novaclient import exceptions as nova_exc

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims, names
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.placement import NotFound, Placement
from nova_twotier.ledger.tree import TierHost

#: Statuses of an evacuation until nova-compute of the old host runs again and ends it.
EVACUATED = ("accepted", "pre-migrating", "done")


@dataclass(frozen=True, slots=True)
class Sample:
    """Servers of jobs and all claims on tier slots, at about one instant.

    Placement is read provider by provider, so a claim that changes meanwhile may show twice or not
    at all; each provider's own claims are of one instant.

    :param left: servers and the hosts that they were evacuated from: until nova-compute runs there
        again, Nova keeps their claims there.
    """

    at: float
    hosts: tuple[TierHost, ...]
    servers: tuple[Server, ...] = ()
    claims: Mapping[str, list[Claim]] = field(default_factory=dict)
    left: Set[tuple[str, str]] = frozenset()

    def gangs(self) -> dict[str, list[Server]]:
        """The servers of each job, by its uuid, in the order of the processes."""
        gangs = {}
        for server in sorted(self.servers, key=lambda server: server.index):
            gangs.setdefault(server.job, []).append(server)
        return gangs

    def held(self, server: Server) -> list[Claim]:
        """The server's claims, without those that it left behind."""
        found = self.claims.get(server.id, ())
        return [claim for claim in found if (claim.vm, claim.host) not in self.left]

    def claim(self, server: Server) -> Claim | None:
        """The server's only claim; None if it shows none, or two."""
        held = self.held(server)
        return held[0] if len(held) == 1 else None


class Sampler:
    """Reads samples, about 2 requests a host and one of Nova."""

    def __init__(self, cloud: Cloud, placement: Placement):
        self._cloud = cloud
        self._placement = placement
        self._shapes = {}
        self._hosts: tuple[TierHost, ...] = ()

    def shapes(self) -> dict:
        """What the aggregates say of the hosts, by name."""
        found = sorted(self._cloud.hosts().items())
        self._shapes = {name: host.shape for name, host in found if host.shape}
        return self._shapes

    def sample(self, now: float) -> Sample:
        """:raises CloudError, PlacementError: if Nova or Placement does not answer."""
        if len(self._hosts) < len(self._shapes):
            self._hosts = self._find_hosts()
        # Claims first: a server that then shows as shelved has certainly released its claim.
        held = claims.read_claims(self._placement, self._hosts)
        # Nova lists a server that is just being made twice, as a request and as an instance.
        servers = {server.id: server for server in self._cloud.servers()}
        moved = any(len(held.get(server, ())) > 1 for server in servers)
        left = self._evacuated() if moved else set()
        return Sample(now, self._hosts, tuple(servers.values()), held, left)

    def _find_hosts(self) -> tuple[TierHost, ...]:
        """Hosts whose child providers the manager has made by now."""
        answer = self._placement.get("/resource_providers")["resource_providers"]
        uuids = {provider["name"]: provider["uuid"] for provider in answer}
        hosts = []
        for name, shape in self._shapes.items():
            children = {tier: uuids.get(names.child_name(name, tier)) for tier in Tier}
            if all(children.values()):
                hosts.append(TierHost(name, shape, children))
        return tuple(hosts)

    def entries_held(self) -> dict[str, int]:
        """The sums of the entries of jobs, by resource class."""
        try:
            answer = self._placement.get(f"/resource_providers/{names.jobs_uuid()}/usages")
        except NotFound:
            return {}
        return {rc: used for rc, used in answer["usages"].items() if used}

    def server_groups(self) -> set[str]:
        """Names of the server groups of all projects."""
        try:
            groups = self._cloud.nova.server_groups.list(all_projects=True)
        except (nova_exc.ClientException, ksa_exc.ClientException) as error:
            raise CloudError(f"Nova does not list server groups: {error}") from error
        return {group.name for group in groups}

    def live_migrations(self, servers: set[str]) -> dict[str, str]:
        """Statuses of the live migrations of these servers, by uuid; gone when the server is."""
        return {
            migration.uuid: migration.status
            for migration in self._migrations("live-migration")
            if migration.instance_uuid in servers
        }

    def _evacuated(self) -> set[tuple[str, str]]:
        """Evacuated servers with their old hosts, until nova-compute runs there again."""
        return {
            (migration.instance_uuid, migration.source_node)
            for migration in self._migrations("evacuation")
            if migration.status in EVACUATED
        }

    def _migrations(self, kind: str) -> list:
        try:
            return self._cloud.nova.migrations.list(migration_type=kind)
        except (nova_exc.ClientException, ksa_exc.ClientException) as error:
            raise CloudError(f"Nova does not list migrations: {error}") from error
