"""The network of a pool's hosts: which jobs with bandwidth it can take, and its free bandwidth."""

from collections.abc import Sequence

from oslo_log import log as logging

from nova_twotier.core import policies
from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.embedding import InvalidTopology, Topology
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies import Policy
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.db.models import Job
from nova_twotier.ledger import names, reading
from nova_twotier.ledger.placement import Placement
from nova_twotier.ledger.shape import capacities
from nova_twotier.ledger.tree import TierHost

LOG = logging.getLogger(__name__)

#: Kinds of jobs whose refusals are remembered: more than wait at once, as a rule.
MOST_KINDS = 10_000


class Network:
    """Judges jobs with bandwidth, and builds the cluster with links for the policy.

    :param policy: the pool's policy; one that does not embed never sees a job with bandwidth.
    """

    def __init__(self, policy: Policy, placement: Placement):
        self._policy, self._placement = policy, placement
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
        #: Bmax: the largest bandwidth of a job that this manager has seen, Mbit/s.
        self._max_mbps = 0

    def refusal(self, job: Job, hosts: Sequence[TierHost]) -> Reason | None:
        """Why the bandwidth of a job can never be guaranteed; None if it can be.

        :param hosts: the pool's, from an `Observation`.
        """
        if not self._policy.embeds:
            able = ", ".join(name for name, each in policies.POLICIES.items() if each.embeds)
            return waits.NO_GUARANTEE(policy=self._policy.name, able=able)
        if hosts is not self._hosts:
            if hosts != self._hosts:
                self._build(hosts)
            self._hosts = hosts
        if self._empty is None:
            return self._problem
        self._max_mbps = max(self._max_mbps, job.mbps)
        kind = job.size, job.mbps
        if kind not in self._refusals:
            if len(self._refusals) >= MOST_KINDS:
                self._refusals.clear()
            never = waits.NETWORK_TOO_SMALL(size=job.size, mbps=job.mbps)
            self._refusals[kind] = None if self._empty.fits(job.core, FG) else never
        return self._refusals[kind]

    def pins(self, job: Job) -> bool:
        """Whether a running job must stay where it is: the policy cannot handle its bandwidth."""
        return bool(job.core.mbps) and not self._policy.embeds

    def cluster(self, hosts: Sequence[Host], threshold: float, runs: Sequence[Run]) -> Linked:
        """A cluster with links, of the hosts last given to `refusal`."""
        if self._topology is None:
            raise RuntimeError("a job with bandwidth was accepted without a known network")
        return Linked(
            hosts, self._topology, max_mbps=self._max_mbps, threshold=threshold, runs=runs
        )

    def limit(self, cluster: Linked) -> None:
        """Limit the cluster's links to the bandwidth that the ledger has left, in one request.

        Jobs of other pools, and jobs that are just leaving, hold bandwidth there, too.
        """
        left = reading.links_left(self._placement.get(reading.LINKS_URL))
        cluster.limit({link: left.get(uuid, 0) for link, uuid in self._providers.items()})

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
