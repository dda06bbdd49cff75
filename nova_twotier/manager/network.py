"""The network of a pool's hosts: which jobs with bandwidth it can take, and its free bandwidth."""

import math
from collections.abc import Callable, Sequence

from oslo_log import log as logging

from nova_twotier.core import policies
from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.embedding import InvalidTopology, Topology
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies import Policy
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.db.models import Job
from nova_twotier.ledger import largest as published
from nova_twotier.ledger import names, reading
from nova_twotier.ledger.placement import Placement, PlacementError
from nova_twotier.ledger.shape import capacities
from nova_twotier.ledger.tree import TierHost

LOG = logging.getLogger(__name__)

#: Kinds of jobs whose refusals are remembered: more than wait at once, as a rule.
MOST_KINDS = 10_000


class Network:
    """Judges jobs with bandwidth, and builds the cluster with links for the policy.

    :param policy: the pool's policy; one that does not embed never sees a job with bandwidth.
    :param largest: says which is the largest bandwidth that ever arrived, Mbit/s; asked for once.
    """

    def __init__(
        self,
        policy: Policy,
        placement: Placement,
        largest: Callable[[], float] = lambda: 0.0,
        pool: str = names.DEFAULT_POOL,
    ):
        self._policy, self._placement, self._largest = policy, placement, largest
        self._pool = pool
        self._hosts: Sequence[TierHost] = ()
        #: None without a network with known rates; `_problem` says why.
        self._topology: Topology | None = None
        self._problem = waits.NO_RATES()
        #: Uuid of each link's provider.
        self._providers: dict[str, str] = {}
        #: The cluster without any job.
        self._empty: Linked | None = None
        #: Why a job of a size and bandwidth does not fit the empty cluster; None if it does.
        self._refusals: dict[tuple[int, float], Reason | None] = {}
        #: The largest bandwidth that any job of the pool has asked for; None: not read yet.
        self._largest_mbps: int | None = None
        #: Mbit/s of the fastest link up from a host, or of any link where those are not counted.
        self._fastest = 0
        #: Bmax as this manager has written it into the ledger.
        self._published = 0

    def refusal(self, job: Job, hosts: Sequence[TierHost]) -> Reason | None:
        """Why the bandwidth of a job can never be guaranteed; None if it can be.

        :param hosts: the pool's, from an `Observation`.
        """
        if not self._policy.embeds:
            able = ", ".join(name for name, each in policies.POLICIES.items() if each.embeds)
            return waits.NO_GUARANTEE(policy=self._policy.name, able=able)
        if not self.covers(hosts) or self._empty is None:
            return self._problem
        self._largest_mbps = max(self._largest_seen(), job.mbps)
        kind = job.size, job.mbps
        if kind not in self._refusals:
            if len(self._refusals) >= MOST_KINDS:
                self._refusals.clear()
            never = waits.NETWORK_TOO_SMALL(size=job.size, mbps=job.mbps)
            self._refusals[kind] = None if self._empty.fits(job.core, FG) else never
        return self._refusals[kind]

    def covers(self, hosts: Sequence[TierHost]) -> bool:
        """Whether the network of the pool's hosts is known."""
        if hosts is not self._hosts:
            if hosts != self._hosts:
                self._build(hosts)
            self._hosts = hosts
        return self._topology is not None

    def moves(self, job: Job) -> bool:
        """Whether a running job has bandwidth, and the policy may change its tier."""
        return bool(job.bandwidth) and self._policy.embeds and self._policy.tiers > 1

    def pins(self, job: Job) -> bool:
        """Whether a running job must stay where it is: its bandwidth could not be guaranteed
        elsewhere.

        The network must be that of the present hosts (`covers`) if the policy moves such jobs.
        """
        if not self._policy.embeds:
            return bool(job.bandwidth)
        return self.moves(job) and self._topology is None

    @property
    def max_mbps(self) -> int:
        """Bmax of the hosts last given to `covers`, Mbit/s.

        It is "the maximum bandwidth demand that has ever arrived" (Symmetry 2018, algorithm 1, line
        1), but no more than a link carries: one absurd job would make all others look as if they
        asked for next to nothing, for as long as the database has it.
        """
        return min(self._largest_seen(), self._fastest)

    def publish(self, hosts: Sequence[TierHost]) -> None:
        """Write Bmax into the ledger if it has changed, for servers that are no job's.

        Nothing is written while no job has asked for bandwidth, or the network is not known.
        """
        if not self._largest_seen() or not self.covers(hosts):
            return
        mbps = self.max_mbps
        if mbps and mbps != self._published:
            try:
                published.publish(self._placement, self._pool, mbps)
            except PlacementError as error:
                # Only the order of such servers' hosts depends on it; it is tried again.
                LOG.warning("The largest bandwidth is not published: %s", error)
            else:
                self._published = mbps

    def cluster(self, hosts: Sequence[Host], threshold: float, runs: Sequence[Run]) -> Linked:
        """A cluster with links, of the hosts last given to `covers`."""
        if self._topology is None:
            raise RuntimeError("a job with bandwidth was accepted without a known network")
        return Linked(
            hosts,
            self._topology,
            max_mbps=self.max_mbps,
            threshold=threshold,
            tiers=self._policy.tiers,
            runs=runs,
        )

    def limit(self, cluster: Linked) -> None:
        """Limit the cluster's links to the bandwidth that the ledger has left, in one request.

        Jobs of other pools, and jobs that are just leaving, hold bandwidth there, too.
        """
        left = reading.links_left(self._placement.get(reading.LINKS_URL))
        cluster.limit({link: left.get(uuid, 0) for link, uuid in self._providers.items()})

    def _largest_seen(self) -> int:
        """The largest bandwidth that any job of the pool has asked for, Mbit/s, also before this
        manager led it."""
        if self._largest_mbps is None:
            self._largest_mbps = math.ceil(self._largest())
        return self._largest_mbps

    def _build(self, hosts: Sequence[TierHost]) -> None:
        self._topology, self._empty, self._problem = None, None, waits.NO_RATES()
        self._refusals.clear()
        rates, _problems = capacities({host.name: host.shape for host in hosts})
        if not rates:
            return
        try:
            self._topology = Topology.from_paths(_paths(hosts), rates)
        except InvalidTopology as error:
            LOG.error("Bandwidth cannot be guaranteed: twotier:switch is wrong: %s", error)
            self._problem = waits.BAD_NETWORK()
            return
        self._providers = {link: names.link_uuid(link) for link in rates}
        own = [rates[host.name] for host in hosts if host.name in rates]
        self._fastest = max(own or rates.values())
        # A disabled host may take VMs later, a leaving one does not.
        specs = [
            Host(host.name, host.shape.slots, host.shape.tiers, not host.leaving) for host in hosts
        ]
        self._empty = Linked(specs, self._topology)


def _paths(hosts: Sequence[TierHost]) -> dict[str, str]:
    """The switch of each host; a leaving host's is no longer known, so it gets any root."""
    roots = sorted(host.shape.switch.split("/")[0] for host in hosts if host.shape.switch)
    elsewhere = roots[0] if roots else ""
    return {host.name: host.shape.switch or (elsewhere if host.leaving else "") for host in hosts}
