"""What the manager saw at one instant: servers, claims and hosts."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Cluster, Host, Run
from nova_twotier.core.ranking import is_hot
from nova_twotier.ledger.claims import Claim
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


@dataclass(frozen=True, slots=True)
class Observation:
    """
    :param servers: by job uuid, in the order of the processes.
    :param claims: the slot that each VM holds, by VM.
    :param enabled: names of the hosts that take new VMs.
    """

    at: float
    hosts: tuple[TierHost, ...]
    enabled: frozenset[str]
    servers: Mapping[str, list[Server]]
    claims: Mapping[str, Claim]

    def gang(self, job: Job) -> list[Server]:
        """The servers of the job's processes; whoever else names the job does not count."""
        return [server for server in self.servers.get(job.uuid, ()) if server.index < job.size]

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

    def shape_slots(self) -> int:
        """Foreground slots of all hosts, enabled or not."""
        return sum(host.shape.slots for host in self.hosts)

    def cluster(
        self,
        running: Iterable[Job],
        starting: Mapping[Job, Tier],
        ending: Iterable[Job],
        threshold: float,
    ) -> Cluster:
        """The cluster as it will be when what is under way is over, but with the ends still there.

        :param running: jobs that hold all their slots.
        :param starting: jobs that hold some of theirs, or none yet, and the tier they start in:
            the rest is taken where the ranking, and so Nova's scheduler, would.
        :param ending: jobs that hold some of theirs still.
        """
        cluster = Cluster(
            [
                Host(host.name, host.shape.slots, host.shape.tiers, host.name in self.enabled)
                for host in self.hosts
            ],
            threshold,
        )
        for job in running:
            until = _expected_end(job, job.started_at)
            cluster.adopt(Run(job.core(), Tier(job.tier), self._places(job), until=until))
        for job in ending:
            self._pin(cluster, job, Tier(job.tier), self._places(job), self.at)
        for job, tier in starting.items():
            places = self._places(job)
            absent = min(job.size - len(places), cluster.idle[tier])
            until = _expected_end(job, self.at)
            self._pin(cluster, job, tier, (*places, *cluster.rank(tier, absent)), until)
        return cluster

    def _places(self, job: Job) -> tuple[int, ...]:
        """Hosts of the servers that hold a slot, by index."""
        index = {host.name: i for i, host in enumerate(self.hosts)}
        return tuple(
            index[self.claims[server.id].host]
            for server in self.gang(job)
            if server.id in self.claims
        )

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
                wanted = round(100 * job.cpu[server.index])
                if claim and server.task not in CLAIM_CHANGES and claim.cpu_points != wanted:
                    points[server.id] = wanted
        return points


def _expected_end(job: Job, start: float | None) -> float:
    """When a job ends by its estimate; infinite if that, or its start, is unknown."""
    if start is None or job.estimate is None:
        return math.inf
    return start + job.estimate
