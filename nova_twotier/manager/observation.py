"""What the manager saw at one instant: servers, claims and hosts."""

import copy
import functools
import math
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Set,
)
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar

from nova_twotier.cloud.servers import Server, seconds
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import Reason
from nova_twotier.core.slots import cpu_points, is_hot
from nova_twotier.db.models import Job
from nova_twotier.db.states import JobState
from nova_twotier.ledger import shape
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.tree import TierHost

T = TypeVar("T")
_ID = attrgetter("id")
#: What a job's CPU profile is made of.
_SAID = attrgetter("learned", "cpu", "measured")
#: Nova's tasks that end with another claim, or none.
CLAIM_CHANGES = frozenset(
    {
        "deleting",
        "migrating",
        "shelving",
        "shelving_image_pending_upload",
        "shelving_image_uploading",
        "shelving_offloading",
    }
)


@dataclass(frozen=True)
class Observation:
    """
    :param servers: by job uuid, in the order of the processes.
    :param claims: the slot that each VM holds, by VM.
    :param enabled: names of the hosts that take new VMs.
    :param down: names of the hosts that count as dead, with the servers on them.
    :param outage: why nothing is decided or restarted for the time being; None without an outage.
    :param others: the claims of VMs that hold more than one slot: those that evacuated servers left
        behind, and all of a VM of which it is not known which slot it keeps.
    :param recorded: ids of the servers that jobs have run on, see `recorded_servers`.
    :param closes: when the planned drains of hosts begin, by name.
    :param preemptible: servers in the background that are to make way for jobs, unless they are a
        job's, by id.
    """

    at: float
    hosts: tuple[TierHost, ...]
    enabled: frozenset[str]
    servers: Mapping[str, list[Server]]
    claims: Mapping[str, Claim]
    down: frozenset[str] = frozenset()
    others: tuple[Claim, ...] = ()
    outage: Reason | None = None
    recorded: Container[str] = frozenset()
    preemptible: Mapping[str, Server] = field(default_factory=dict)
    closes: Mapping[str, float] = field(default_factory=dict)
    _gangs: dict[Job, list[Server]] = field(default_factory=dict, init=False, repr=False)
    _memory: dict[str, tuple[Any, Any]] = field(default_factory=dict, init=False, repr=False)
    _memory_of: dict[tuple, Any] = field(default_factory=dict, init=False, repr=False)

    def is_same(self, other: "Observation") -> bool:
        """Whether nothing but the time differs. What is large must be the same object."""
        large = ("hosts", "servers", "claims", "others", "recorded", "preemptible")
        small = ("enabled", "down", "outage", "closes")
        return all(getattr(self, name) is getattr(other, name) for name in large) and all(
            getattr(self, name) == getattr(other, name) for name in small
        )

    def later(self, at: float) -> "Observation":
        """The same at a later time, with all that was worked out of it."""
        found = copy.copy(self)
        object.__setattr__(found, "at", at)
        return found

    def continues(self, other: "Observation") -> bool:
        """Whether it is the other one at a later time."""
        return self._memory is other._memory

    def remember(self, name: str, given: Any, work_out: Callable[[], T]) -> T:
        """A result computed from this observation, kept under a name while `given` is the same.

        It must not depend on the time.

        :param given: everything else that it depends on.
        """
        known = self._memory.get(name)
        if known is None or known[0] != given:
            known = self._memory[name] = given, work_out()
        return known[1]

    def gang(self, job: Job) -> list[Server]:
        """The servers of the job's processes; others that name the job do not count.

        If it was booted more than once: the recorded servers that it has run on; before it has run,
        those of the first complete boot, one without errors before others, or all if no boot is
        complete.
        """
        gang = self._gangs.get(job)
        if gang is None:
            if job.uuid not in self.servers:
                return []  # Most jobs wait, and an observation may outlive them.
            gang = self._named(job)
            if len(gang) > job.size:
                # Boots may be dated by API nodes whose clocks differ.
                recorded = [server for server in gang if server.id in self.recorded]
                gang = recorded or _first_whole(gang, job.size)
            self._gangs[job] = gang
        return gang

    def remember_of(self, job: Job, name: str, given: Hashable, work_out: Callable[[], T]) -> T:
        """The same as `remember`, of one job."""
        key = job, name, given
        if key not in self._memory_of:
            self._memory_of[key] = work_out()
        return self._memory_of[key]

    def _named(self, job: Job) -> list[Server]:
        """Servers of the job's owner that name the job as one of its processes."""
        size, owner = job.size, job.server_owner
        return [
            each for each in self.servers[job.uuid] if each.index < size and each.owner == owner
        ]

    def surplus(self, job: Job) -> list[Server]:
        """Servers of other boots than the gang's, which the job does not need.

        Until it runs, only those of later boots: an earlier one may be about to become complete.
        """
        gang = self.gang(job)
        if job.uuid not in self.crowded or len(gang) != job.size:
            return []
        rest = [each for each in self._named(job) if each not in gang and self._is_booted(each)]
        if job.state == JobState.RUNNING:
            return rest
        return [each for each in rest if _age(each) > min(map(_age, gang))]

    def late(self, job: Job) -> list[Server]:
        """The servers of a job that Nova created after the job had ended.

        By Nova's clock and the manager's, which may differ. Only the job itself shelves servers, so
        what is shelved was kept when it ended, whatever these say.
        """
        over = math.inf if job.finished_at is None else job.finished_at
        return [
            each
            for each in self._named(job)
            if not each.shelved and (seconds(each.created) or 0.0) > over and self._is_booted(each)
        ]

    def _is_booted(self, server: Server) -> bool:
        """Whether a server that names a job comes from a boot of the manager.

        What is on a host without a slot does not: its owner may have restored it from a backup,
        with the metadata of the job's server.
        """
        return server.host is None or server.status == "ERROR" or self.claims_any(server.id)

    def _manned(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """The jobs that have servers: most wait and have none."""
        return (job for job in jobs if job.uuid in self.servers)

    def all_claims(self) -> Iterator[Claim]:
        return chain(self.claims.values(), self.others)

    def unmanaged(self, jobs: Iterable[Job]) -> set[Claim]:
        """Claims of VMs that are not servers of these jobs: tenants' own, left-over ones, and the
        old places of migrating and evacuated VMs."""
        jobs = list(jobs)

        def work_out() -> set[Claim]:
            servers = chain.from_iterable(map(self.gang, jobs))
            return set(self.claims_but(set(map(_ID, servers))))

        return set(self.remember("unmanaged", jobs, work_out))

    def claims_but(self, vms: Set[str]) -> list[Claim]:
        """The claims of all VMs but these."""
        single = [self.claims[vm] for vm in self.claims.keys() - vms]
        moving = self.moving & vms
        return [*single, *(claim for claim in self.others if claim.vm not in moving)]

    def claims_any(self, vm: str) -> bool:
        """Whether a VM holds a slot, or several."""
        return vm in self.claims or vm in self.moving

    @functools.cached_property
    def moving(self) -> set[str]:
        """VMs of which it is not known which of their slots they keep."""
        return {claim.vm for claim in self.others} - self.claims.keys()

    def resting(self, job: Job) -> list[str]:
        """VMs of a saved job that are suspended or off: they must hold no slots, or release any."""
        if not job.saved:
            return []
        return [
            server.id
            for server in self.gang(job)
            if not server.busy and server.status in ("SUSPENDED", "SHUTOFF")
        ]

    def busy(self, job: Job) -> bool:
        """Whether Nova is busy with any of its servers. Tasks that its owner may start do not
        count: they could be repeated forever to protect the job."""
        busy = self._busy  # most often none
        return (
            bool(busy)
            and job.uuid in busy
            and any(each.busy and not each.busy_for_owner for each in self.gang(job))
        )

    @functools.cached_property
    def _busy(self) -> set[str]:
        """The jobs named by servers that Nova is busy with: few are."""
        return {uuid for uuid, named in self.servers.items() if any(each.busy for each in named)}

    @functools.cached_property
    def off(self) -> set[str]:
        """Uuids of the jobs named by servers that are off: few are."""
        return {
            uuid
            for uuid, named in self.servers.items()
            if any(each.status == "SHUTOFF" for each in named)
        }

    @functools.cached_property
    def noticed(self) -> set[str]:
        """Uuids of the jobs named by servers whose guests were told something: few were."""
        return {uuid for uuid, named in self.servers.items() if any(each.notice for each in named)}

    @functools.cached_property
    def crowded(self) -> set[str]:
        """Uuids of the jobs named by two servers for the same process: very few are."""
        return {
            uuid
            for uuid, named in self.servers.items()
            if len(named) > 1 and len({each.index for each in named}) < len(named)
        }

    def whole(self, job: Job) -> bool:
        """Whether the job has all its servers, each on a slot."""
        gang = self.gang(job)
        return len(gang) == job.size and all(server.id in self.claims for server in gang)

    def in_tier(self, job: Job, tier: Tier) -> bool:
        """Whether every server of the job holds a slot in `tier`."""
        return all(
            server.id in self.claims and self.claims[server.id].tier is tier
            for server in self.gang(job)
        )

    def suspended_on(self, job: Job) -> tuple[int, ...] | None:
        """Indices of the hosts that hold a suspended job; None if it may start on any others.

        Empty if one of them is no longer ours, or not all its servers are there: then it may start
        nowhere.
        """
        gang = self.gang(job)
        if not job.saved or not any(server.status == "SUSPENDED" for server in gang):
            return None
        if len(gang) != job.size:
            return ()
        hosts = tuple(self.index.get(server.host or "") for server in gang)
        known = tuple(host for host in hosts if host is not None)
        return known if len(known) == len(hosts) else ()

    @functools.cached_property
    def index(self) -> dict[str, int]:
        """Indices of the hosts by name."""
        return {host.name: i for i, host in enumerate(self.hosts)}

    @functools.cached_property
    def shape_slots(self) -> int:
        """Number of slots in one tier, on hosts that take new VMs or will do so again."""
        return sum(host.shape.slots for host in self.hosts if not host.leaving)

    @functools.cached_property
    def _shapes(self) -> dict[str, shape.Shape]:
        return {host.name: host.shape for host in self.hosts}

    @functools.cached_property
    def _links(self) -> Collection[str]:
        """The links whose rate is known."""
        return shape.capacities(self._shapes)[0].keys()

    def needs(self, job: Job, hosts: Iterable[str]) -> dict[str, int]:
        """Mbit/s that a job needs on each link with its processes on these hosts, one for each."""
        if not job.mbps:
            return {}
        return shape.needs(Counter(hosts), job.mbps, self._shapes, self._links)

    def places(self, job: Job) -> list[str]:
        """The names of the hosts of a whole job, one for each process."""
        return [self.claims[server.id].host for server in self.gang(job)]

    def closed(self, jobs: Iterable[Job], threshold: float) -> dict[str, int]:
        """Slots of each host that a foreground server closes, whether it belongs to a job or
        not."""
        manned = list(self._manned(jobs))
        given = threshold, manned, list(map(_SAID, manned))
        return dict(self.remember("closed", given, lambda: self._closed(manned, threshold)))

    def _closed(self, manned: Iterable[Job], threshold: float) -> dict[str, int]:
        closed = {host.name: 0 for host in self.hosts}
        cpu: dict[str, float] = {}
        for job in manned:
            profile = job.profile
            cpu |= {server.id: profile[server.index] for server in self.gang(job)}
        for claim in self.all_claims():
            if claim.tier is Tier.FG:
                closed[claim.host] += is_hot(cpu.get(claim.vm, claim.utilisation), threshold)
        return closed

    def room(self, tier: Tier, jobs: Iterable[Job], threshold: float) -> int:
        """Places that VMs can still claim in a tier."""
        return self.free(tier, self.closed(jobs, threshold) if tier is Tier.BG else {})

    def free(self, tier: Tier, closed: Mapping[str, int]) -> int:
        """The same, if it is known how many slots of each host are closed."""
        used = Counter(claim.host for claim in self.all_claims() if claim.tier is tier)
        places = {
            host.name: host.shape.places(tier, closed.get(host.name, 0))
            for host in self.hosts
            if host.name in self.enabled
        }
        return sum(max(0, count - used[name]) for name, count in places.items())

    def points(self, jobs: Iterable[Job]) -> tuple[dict[str, int], dict[Job, dict[int, float]]]:
        """CPU points that claims of servers lack, and what node agents have measured.

        Missing points are needed as soon as there is a claim, since the next placement is ranked by
        them, but not while Nova is about to change the claim. The manager writes points only where
        there are none: if there are others than the job's, an agent has measured them.

        :returns: missing points by VM; and by job, the new CPU utilisation (0..1) of processes.
        """
        manned = list(self._manned(jobs))
        given = manned, list(map(_SAID, manned))
        missing, measured = self.remember("points", given, lambda: self._points(manned))
        return dict(missing), dict(measured)

    def _points(self, manned: Iterable[Job]) -> tuple[dict[str, int], dict[Job, dict[int, float]]]:
        missing: dict[str, int] = {}
        measured: dict[Job, dict[int, float]] = {}
        for job in manned:
            profile = job.profile
            for server in self.gang(job):
                claim = self.claims.get(server.id)
                expected = cpu_points(profile[server.index])
                if claim is None or claim.cpu_points == expected:
                    continue
                if claim.cpu_points:
                    measured.setdefault(job, {})[server.index] = claim.utilisation
                elif server.task not in CLAIM_CHANGES:
                    missing[server.id] = expected
        return missing, measured


def _age(server: Server) -> tuple[str, str]:
    """The order in which servers were requested."""
    return server.created, server.reservation


def _first_whole(servers: list[Server], size: int) -> list[Server]:
    """Those of the first boot that is complete and not being deleted in part; else all.

    One that failed only if there is no other: it may be a late one of an earlier start.
    """
    boots: dict[str, list[Server]] = {}
    for server in servers:
        boots.setdefault(server.reservation, []).append(server)
    whole = [
        boot
        for boot in boots.values()
        if len(boot) == size and not any(server.task == "deleting" for server in boot)
    ]
    return min(whole, key=lambda boot: (_failed(boot), min(map(_age, boot))), default=servers)


def _failed(boot: Iterable[Server]) -> bool:
    return any(server.status == "ERROR" for server in boot)
