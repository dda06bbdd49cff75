"""What the manager saw at one instant: servers, claims and hosts."""

import functools
import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace

from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Cluster, Host, Run
from nova_twotier.core.ranking import is_hot
from nova_twotier.ledger.claims import Claim, cpu_points
from nova_twotier.ledger.tree import TierHost
from nova_twotier.manager.cloud import Server
from nova_twotier.manager.db.models import Job

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
    :param down: names of the hosts of which the servers are lost: down for too long.
    """

    at: float
    hosts: tuple[TierHost, ...]
    enabled: frozenset[str]
    servers: Mapping[str, list[Server]]
    claims: Mapping[str, Claim]
    down: frozenset[str] = frozenset()

    def gang(self, job: Job) -> list[Server]:
        """The servers of the job's processes; whoever else names the job does not count."""
        return [
            server
            for server in self.servers.get(job.uuid, ())
            if server.index < job.size and server.owner == job.server_owner
        ]

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

        Of none if one of them is none of ours any more: then it may start nowhere.
        """
        gang = self.gang(job)
        if not job.saved or not any(server.status == "SUSPENDED" for server in gang):
            return None
        index = {host.name: i for i, host in enumerate(self.hosts)}
        hosts = tuple(index.get(server.host) for server in gang)
        return () if None in hosts else hosts

    @functools.cached_property
    def shape_slots(self) -> int:
        """Foreground slots of all hosts, enabled or not."""
        return sum(host.shape.slots for host in self.hosts)

    def cluster(
        self,
        running: Iterable[Job],
        starting: Mapping[Job, Tier],
        ending: Iterable[Job],
        threshold: float,
        settled: Container[int] = (),
    ) -> Cluster:
        """The cluster as it will be when what is under way is over, but with the ends still there.

        :param running: jobs that hold all their slots.
        :param starting: jobs that hold some of theirs, or none yet, and the tier they start in:
            the rest is taken where the ranking, and so Nova's scheduler, would.
        :param ending: jobs that hold some of theirs still.
        :param settled: numbers of the running jobs that are to stay as they are.
        """
        cluster = Cluster(
            [
                Host(host.name, host.shape.slots, host.shape.tiers, host.name in self.enabled)
                for host in self.hosts
            ],
            threshold,
        )
        for job in running:
            # A run that an earlier release began has no beginning of its own.
            began = job.started_at if job.run_since is None else job.run_since - job.run_before
            until = _expected_end(job, began)
            pinned = job.number in settled
            cluster.adopt(Run(job.core(), Tier(job.tier), self._places(job), pinned, until))
        for job in ending:
            self._pin(cluster, job, Tier(job.tier), self._places(job), self.at)
        placed = {job: self._places(job) for job in starting}
        # First those whose slots are known: no other is to be thought to get these.
        for job, places in sorted(placed.items(), key=lambda one: one[0].size - len(one[1])):
            tier = starting[job]
            absent = min(job.size - len(places), cluster.idle[tier])
            until = _expected_end(job, self.at)
            self._pin(cluster, job, tier, (*places, *cluster.rank(tier, absent)), until)
        return cluster

    def _places(self, job: Job) -> tuple[int, ...]:
        """Hosts of the servers that hold a slot, by index.

        Of no more than the job has processes: a gang with too many is about to be deleted.
        """
        index = {host.name: i for i, host in enumerate(self.hosts)}
        holding = [server for server in self.gang(job) if server.id in self.claims]
        return tuple(index[self.claims[server.id].host] for server in holding[: job.size])

    @staticmethod
    def _pin(cluster: Cluster, job: Job, tier: Tier, places: tuple[int, ...], until: float) -> None:
        if places:
            core = job.core()
            part = replace(core, size=len(places), cpu=core.cpu[: len(places)])
            cluster.adopt(Run(part, tier, places, pinned=True, until=until))

    def closed(self, jobs: Iterable[Job], threshold: float) -> dict[str, int]:
        """Slots of each host whose foreground server closes them."""
        closed = {host.name: 0 for host in self.hosts}
        for job in jobs:
            for server in self.gang(job):
                claim = self.claims.get(server.id)
                if claim and claim.tier is Tier.FG and is_hot(job.cpu[server.index], threshold):
                    closed[claim.host] += 1
        return closed

    def missing_points(self, jobs: Iterable[Job]) -> dict[str, int]:
        """CPU points that the claims of servers should have and do not.

        As soon as they have a claim, since the next placement is ranked by it; but not while Nova
        is about to change it.
        """
        points = {}
        for job in jobs:
            for server in self.gang(job):
                claim = self.claims.get(server.id)
                wanted = cpu_points(job.cpu[server.index])
                if claim and server.task not in CLAIM_CHANGES and claim.cpu_points != wanted:
                    points[server.id] = wanted
        return points


def _expected_end(job: Job, start: float | None) -> float:
    """When a job ends by its estimate; infinite if that, or its start, is unknown."""
    if start is None or job.estimate is None:
        return math.inf
    return start + job.estimate
