"""Makes the cluster of a run, the simplest that will do, and what advances the jobs on it."""

import math
import random

from nova_twotier.core.cluster import Cluster, Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.linked import Linked
from nova_twotier.core.nodes import Counted, Nodes
from nova_twotier.core.policies import Policy
from nova_twotier.core.policies.bandwidth import Guaranteeing
from nova_twotier.sim import network, rivals
from nova_twotier.sim.many_hosts import ManyHosts
from nova_twotier.sim.many_nodes import MANY, ManyNodes
from nova_twotier.sim.recorder import Recorder
from nova_twotier.sim.running_jobs import RunningJobs
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.shared import Shared, SharedNodes
from nova_twotier.sim.shared_many_hosts import SharedManyHosts
from nova_twotier.sim.shared_many_nodes import SharedManyNodes


def make_cluster(
    nodes: int, scenario: Scenario, policy: Policy, *, named: bool, rng: random.Random
) -> Cluster:
    """The simplest cluster of at least `nodes` slots that leads to the same decisions.

    :param named: whether it matters which process is on which slot.
    """
    tiers = policy.tiers if scenario.tiers is None else scenario.tiers
    unknown = rng if scenario.utilisation.error is None and policy.tiers > 1 else None
    if scenario.topology is not None:
        return _linked(nodes, scenario, tiers, policy.tiers, unknown)
    # A job that returns to its own hosts has not migrated: that tells them apart.
    if policy.tiers == 1 and not named and not isinstance(policy, Guaranteeing):
        return Counted(math.ceil(nodes / scenario.slots) * scenario.slots)
    if scenario.slots == 1 and tiers <= 2 and (tiers == 2 or policy.tiers == 1):
        kind = ManyNodes if nodes >= MANY else Nodes
        return kind(nodes, scenario.threshold, unknown)
    hosts = math.ceil(nodes / scenario.slots)
    if nodes >= MANY and min(tiers, policy.tiers) > 1:
        return ManyHosts(hosts, scenario.slots, tiers, scenario.threshold, unknown)
    return Hosts(
        [Host(f"host{index}", scenario.slots, tiers) for index in range(hosts)],
        scenario.threshold,
        unknown,
    )


def _linked(
    nodes: int, scenario: Scenario, tiers: int, used: int, unknown: random.Random | None
) -> Linked:
    scenario.check_topology(nodes)
    topology = network.topology(scenario.topology)
    return Linked(
        [Host(name, scenario.slots, tiers) for name in topology.hosts],
        topology,
        rivals.get(scenario.embedding),
        threshold=scenario.threshold,
        rng=unknown,
        tiers=used,
    )


def make_running(
    cluster: Cluster,
    scenario: Scenario,
    policy: Policy,
    rng: random.Random,
    recorder: Recorder | None = None,
) -> RunningJobs:
    """What advances the running jobs on a cluster of `make_cluster`."""
    if policy.tiers == 1:
        return RunningJobs(scenario.migration_cost, recorder)
    cost, model = scenario.migration_cost, scenario.model()
    if isinstance(cluster, ManyNodes):
        return SharedManyNodes(cost, cluster, model, rng, recorder)
    if isinstance(cluster, ManyHosts):
        return SharedManyHosts(cost, cluster, model, rng, recorder)
    if isinstance(cluster, Nodes):
        return SharedNodes(cost, cluster, model, rng, recorder)
    return Shared(cost, cluster, model, rng, recorder)
