"""The network of a pool's hosts: which jobs with bandwidth it can take, and what is left of it."""

from collections.abc import Sequence

from oslo_log import log as logging

from nova_twotier.core import policies
from nova_twotier.core.actions import FG
from nova_twotier.core.cluster import Host, Run
from nova_twotier.core.embedding import InvalidTopology, Topology
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies import Policy
from nova_twotier.db.models import Job
from nova_twotier.ledger import names, reading
from nova_twotier.ledger.placement import Placement
from nova_twotier.ledger.shape import capacities
from nova_twotier.ledger.tree import TierHost

LOG = logging.getLogger(__name__)

#: Why jobs with bandwidth wait, whatever else is free.
NO_LINKS = "its bandwidth cannot be guaranteed: the pool's hosts have no twotier:uplink_mbps"
NO_TREE = "its bandwidth cannot be guaranteed: the pool's network is described wrongly"


class Network:
    """
    :param policy: that decides; one that does not embed is shown no job with bandwidth.
    """

    def __init__(self, policy: Policy, placement: Placement):
        self._policy, self._placement = policy, placement
        self._hosts: Sequence[TierHost] = ()
        #: None if there is no network of which the rates are known; then the problem says why.
        self._topology: Topology | None = None
        self._problem = NO_LINKS
        #: The uuid of each link's provider.
        self._providers: dict[str, str] = {}
        #: What a job is measured by when nothing runs, and why those of a size and a bandwidth do
        #: not fit even then.
        self._empty: Linked | None = None
        self._refusals: dict[tuple[int, float], str] = {}
        #: The largest bandwidth that a job has asked for (Bmax), as far as this manager knows.
        self._max_mbps = 0

    def refusal(self, job: Job, hosts: Sequence[TierHost]) -> str:
        """Why the bandwidth of a job can never be guaranteed; empty if it can be.

        :param hosts: of the pool, as `Observation` has them.
        """
        if not self._policy.embeds:
            able = ", ".join(name for name, each in policies.POLICIES.items() if each.embeds)
            return (
                f"its bandwidth cannot be guaranteed by the policy {self._policy.name}, only by "
                f"one of: {able}"
            )
        if hosts is not self._hosts:
            if hosts != self._hosts:
                self._build(hosts)
            self._hosts = hosts
        if self._empty is None:
            return self._problem
        self._max_mbps = max(self._max_mbps, job.mbps)
        kind = job.size, job.mbps
        if kind not in self._refusals:
            core = job.core
            fits = self._empty.fits(core, FG)
            self._refusals[kind] = "" if fits else self._empty.need(core, FG)
        return self._refusals[kind]

    def pins(self, job: Job) -> bool:
        """Whether a running job is to stay as it is: the policy does not know of its bandwidth."""
        return bool(job.core.mbps) and not self._policy.embeds

    def cluster(self, hosts: Sequence[Host], threshold: float, runs: Sequence[Run]) -> Linked:
        """A cluster with links, of the hosts that `refusal` was given."""
        if self._topology is None:
            raise RuntimeError("a job was let in whose bandwidth cannot be guaranteed")
        return Linked(
            hosts, self._topology, max_mbps=self._max_mbps, threshold=threshold, runs=runs
        )

    def limit(self, cluster: Linked) -> None:
        """Take what is left of links from the ledger, where others hold some: one request.

        Those are jobs of other pools, and jobs that are just leaving.
        """
        left = reading.links_left(self._placement.get(reading.LINKS_URL))
        cluster.limit({link: left.get(uuid, 0) for link, uuid in self._providers.items()})

    def _build(self, hosts: Sequence[TierHost]) -> None:
        self._topology, self._empty, self._problem = None, None, NO_LINKS
        self._refusals.clear()
        rates, _problems = capacities({host.name: host.shape for host in hosts})
        if not rates:
            return
        try:
            self._topology = Topology.from_paths(_paths(hosts), rates)
        except InvalidTopology as error:
            LOG.error("No bandwidth can be guaranteed: twotier:switch is wrong: %s", error)
            self._problem = NO_TREE
            return
        self._providers = {link: names.link_uuid(link) for link in rates}
        # A host that takes no VMs now may take some later, unless it leaves.
        specs = [
            Host(host.name, host.shape.slots, host.shape.tiers, not host.leaving) for host in hosts
        ]
        self._empty = Linked(specs, self._topology)


def _paths(hosts: Sequence[TierHost]) -> dict[str, str]:
    """The switch of each host; of those that leave it is not known any more, so any root."""
    roots = sorted(host.shape.switch.split("/")[0] for host in hosts if host.shape.switch)
    elsewhere = roots[0] if roots else ""
    return {host.name: host.shape.switch or (elsewhere if host.leaving else "") for host in hosts}
