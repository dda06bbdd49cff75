"""Polls Nova and Placement, and puts their answers together into an observation."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Protocol

from nova_twotier.cloud.compute_hosts import ComputeHost
from nova_twotier.cloud.hosts import Hosts
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import Reason
from nova_twotier.ledger.claim_cache import ClaimCache
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.placement import Placement
from nova_twotier.manager.observation import Observation


class Judge(Protocol):
    """Says which hosts count as dead, and whether there is an outage, as `Outages` does."""

    dead: frozenset[str]
    reason: Reason | None

    def judge(
        self,
        hosts: Mapping[str, ComputeHost],
        down: Mapping[str, float],
        now: float,
        fresh: bool = True,
    ) -> None: ...


@dataclass(frozen=True)
class _Sight:
    """What the servers of Nova and the claims that are held come to.

    :param servers: what the cloud returned.
    :param held: what the claim cache returned.
    """

    servers: Sequence[Server]
    held: Mapping[str, list[Claim]]
    gangs: Mapping[str, list[Server]]
    claims: Mapping[str, Claim]
    others: tuple[Claim, ...]
    preemptible: Mapping[str, Server]


class Observer:
    """Makes the observations of a pool.

    :param hosts: the pool's hosts; the caller keeps them up to date.
    :param outages: judges which hosts are dead.
    :param readers: read many claims at once.
    """

    def __init__(
        self,
        cloud: Cloud,
        placement: Placement,
        hosts: Hosts,
        outages: Judge,
        readers: Executor | None = None,
    ):
        self._cloud, self._hosts, self._outages = cloud, hosts, outages
        self._claim_cache = ClaimCache(placement, readers)
        #: Consumers that held slots at the last poll but were no listed servers.
        self._unknown: Set[str] = set()
        #: What the cloud's and the claim cache's last answers came to, see `_Sight`.
        self._last = _Sight((), {}, {}, {}, (), {})
        self._settled: tuple[Sequence[Server], Mapping[str, str]] = (), {}
        self._observed: Observation | None = None

    def poll(self, now: float, recorded: Container[str] = frozenset()) -> Observation:
        """The state of the pool now.

        :param recorded: ids of the servers that jobs have run on.
        :raises CloudError, PlacementError: if Nova or Placement does not answer.
        """
        servers = self._cloud.servers()
        if servers is not self._settled[0]:
            settled = {server.id: server.host or "" for server in servers if server.settled}
            self._settled = servers, settled
        held = self._claim_cache.poll(self._hosts.tree, self._settled[1])
        last = self._last
        if servers is last.servers and held is last.held:
            return self._put_together(now, recorded, last)
        unknown = held.keys() - {server.id for server in servers}
        if unknown - self._unknown:
            # Nova may have made and placed servers between the two reads.
            late = [server for server in self._cloud.servers() if server.id in unknown]
            servers = [*servers, *late]
            unknown -= {server.id for server in late}
        self._unknown = unknown
        claims = dict(_kept(held, _places(servers)))
        others = tuple(
            each for vm, found in held.items() for each in found if each != claims.get(vm)
        )
        preemptible = dict(self._find_preemptible(claims, servers))
        self._last = _Sight(servers, held, _gangs(servers), claims, others, preemptible)
        return self._put_together(now, recorded, self._last)

    def _put_together(self, now: float, recorded: Container[str], sight: "_Sight") -> Observation:
        fresh = self._hosts.polled_at == now
        self._outages.judge(self._hosts.computes, self._hosts.down, now, fresh)
        # A host that is back may be given servers by Nova, which are not lost.
        down = frozenset[str]() if self._hosts.is_blind(now) else self._outages.dead
        found = Observation(
            at=now,
            hosts=self._hosts.tree,
            enabled=self._hosts.enabled,
            servers=sight.gangs,
            claims=sight.claims,
            down=down,
            outage=self._outages.reason,
            recorded=recorded,
            others=sight.others,
            preemptible=sight.preemptible,
            closes=self._hosts.closes,
        )
        if self._observed is not None and found.is_same(self._observed):
            found = self._observed.later(now)
        self._observed = found
        return found

    def _find_preemptible(
        self, claims: Mapping[str, Claim], servers: Iterable[Server]
    ) -> Iterator[tuple[str, Server]]:
        """The servers in the background whose flavors let them make way for jobs, by id.

        Nova gives the slot of a deleted server back a while after it lists the server no more.
        """
        listed = {server.id: server for server in servers}
        for vm in (vm for vm, claim in claims.items() if claim.tier is Tier.BG):
            server = listed.get(vm) or self._cloud.unmanaged(vm)
            if server is None and vm in self._last.preemptible:
                yield vm, replace(self._last.preemptible[vm], task="deleting")
            elif server and server.preemptible:
                yield vm, server


def _places(servers: Iterable[Server]) -> dict[str, str | None]:
    """The host of each server that Nova is not moving, by server id."""
    return {each.id: each.host for each in servers if not each.busy or each.busy_for_owner}


def _kept(
    held: Mapping[str, list[Claim]], places: Mapping[str, str | None]
) -> Iterator[tuple[str, Claim]]:
    """The claim of each VM whose slot is known.

    An evacuated server keeps its claim on the host that it left until nova-compute runs there
    again, which may take days.
    """
    for vm, claims in held.items():
        here = [each for each in claims if each.host == places.get(vm)]
        if len(claims) == 1 or len(here) == 1:
            yield vm, here[0] if len(here) == 1 else claims[0]


def _gangs(servers: Iterable[Server]) -> dict[str, list[Server]]:
    """Servers by the job that they name, in the order of the processes."""
    gangs: dict[str, list[Server]] = {}
    for server in servers:
        gangs.setdefault(server.job, []).append(server)
    for gang in gangs.values():
        gang.sort(key=lambda server: server.index)
    return gangs
