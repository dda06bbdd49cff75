"""Repeats the decisions of a live run in the simulator: the same jobs arrive and end as they
did."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from nova_twotier.core.cluster import Cluster, Host
from nova_twotier.core.embedding import Topology
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.linked import Linked
from nova_twotier.core.policies import Policy
from nova_twotier.core.queue import Order
from nova_twotier.db.models import Job
from nova_twotier.ledger.shape import Shape, capacities
from nova_twotier.sim import estimates, scripted
from nova_twotier.sim.estimates import Predictions
from nova_twotier.sim.recorder import Recorder
from nova_twotier.tools.replay import decisions
from nova_twotier.tools.replay.decisions import Decided


def simulate(
    jobs: Iterable[Job],
    policy: Policy,
    cluster: Cluster,
    placed: scripted.Hosts | None = None,
    recorder: Recorder | None = None,
) -> list[Decided]:
    """The simulator's decisions, up to the first job, if any, that is due to end there but does not
    run.

    :param jobs: the manager's records, by number.
    :param cluster: with nothing on it, as of `cluster_of`.
    :param placed: where Nova put the jobs, as `decisions.placed` returns it; None: they are where
        the policy would put them.
    """
    jobs = list(jobs)
    ends = {job.number: job.finished_at for job in jobs if job.finished_at is not None}
    # Without what the manager predicted itself: the simulator has to come to the same.
    cores = [replace(job.core, estimate=job.estimate) for job in jobs]
    predictions = None
    if any(job.predicted_from is not None for job in jobs):
        owners = {job.number: (job.project_id, job.user_id) for job in jobs}
        predictions = Predictions.of(estimates.MISSING_HISTORICAL, owners, policy)
    try:
        decided = scripted.decide(cores, ends, policy, cluster, placed, recorder, predictions)
    except scripted.Diverged as diverged:
        decided = diverged.decisions
    return decisions.simulated(decided)


def orders(jobs: Iterable[Job], policy: Policy) -> dict[int, Order]:
    """The positions by which a policy considers jobs, by their numbers."""
    return {job.number: policy.admit(job.core).order for job in jobs}


def cluster_of(
    shapes: Mapping[str, Shape], threshold: float, policy: Policy, bandwidth: bool
) -> Cluster:
    """The simulator's hosts, by name.

    :param threshold: as of `Cluster`.
    :param bandwidth: whether jobs ask for it: then the links between the hosts count, too.
    """
    shapes = dict(sorted(shapes.items()))
    hosts = [Host(name, shape.slots, shape.tiers) for name, shape in shapes.items()]
    if not bandwidth:
        return Hosts(hosts, threshold)
    rates, _problems = capacities(shapes)
    paths = {name: shape.switch for name, shape in shapes.items()}
    topology = Topology.from_paths(paths, rates)
    return Linked(hosts, topology, threshold=threshold, tiers=policy.tiers)
