"""Builders and hypothesis strategies for jobs, hosts and clusters."""

import math

from hypothesis import settings
from hypothesis import strategies as st

from nova_twotier.core.actions import Tier
from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.nodes import Counted, Nodes
from nova_twotier.sim.many_hosts import ManyHosts
from nova_twotier.sim.many_nodes import ManyNodes

FG, BG = Tier.FG, Tier.BG

# A loaded machine is no failure.
settings.register_profile("twotier", deadline=None)
settings.load_profile("twotier")

#: Idle, light, half, heavy, just below and at the threshold, full.
UTILISATIONS = (0.0, 0.1, 0.5, 0.6, 0.95, 0.96, 1.0)

utilisation = st.sampled_from(UTILISATIONS)
estimate = st.sampled_from((None, 0.0, 10.0, 25.0, 100.0))
bandwidth = st.sampled_from((0.0, 10.0, 250.0))


def job(number, size=1, cpu=0.5, arrival=None, **options):
    """A job whose processes all use `cpu`; jobs arrive in the order of their numbers."""
    arrival = float(number) if arrival is None else arrival
    return Job(number, size, arrival, (cpu,) * size, **options)


def cluster(*slots, tiers=2):
    return Hosts([Host(f"host{n}", count, tiers) for n, count in enumerate(slots)])


@st.composite
def hosts(draw, max_hosts=4, enabled=True, tiers=(2, 3)):
    """A few hosts; with `enabled=False` some of them may take no new VMs."""
    may = st.just(True) if enabled else st.booleans()
    shapes = st.tuples(st.integers(1, 3), st.sampled_from(tiers), may)
    drawn = draw(st.lists(shapes, min_size=1, max_size=max_hosts))
    return [Host(f"host{n}", *shape) for n, shape in enumerate(drawn)]


@st.composite
def jobs(draw, max_size, max_jobs=12, cpu=utilisation):
    """Jobs of at most `max_size` processes, some of which arrive at the same time."""
    cpus = st.lists(cpu, min_size=1, max_size=max_size)
    fields = st.tuples(cpus, st.integers(0, 5), estimate, bandwidth)
    drawn = draw(st.lists(fields, min_size=1, max_size=max_jobs))
    return [
        Job(number, len(cpu), float(arrival), tuple(cpu), estimate=expected, mbps=mbps)
        for number, (cpu, arrival, expected, mbps) in enumerate(drawn, start=1)
    ]


def state(of):
    """Everything that a cluster knows, as a value; sums of utilisations rounded."""
    common = (
        of.hosts,
        dict(of.runs),
        {tier: of.running(tier) for tier in Tier},
        list(of.ends),
        dict(of.idle),
        of.rng and of.rng.getstate(),
    )
    if isinstance(of, Counted):
        return common
    if isinstance(of, Nodes):
        return (
            *common,
            {tier: tuple(of.jobs[tier]) for tier in Tier},
            {tier: loads(of, tier) for tier in Tier},
            {tier: sorted(of.free[tier]) for tier in Tier},
            sorted(of._closed),
            sorted(of._overdue),
        )
    if isinstance(of, ManyNodes):
        return (
            *common,
            {tier: of.used[tier].tolist() for tier in Tier},
            {tier: of.jobs[tier][of.used[tier]].tolist() for tier in Tier},
            {tier: of._cpu[tier][of.used[tier]].tolist() for tier in Tier},
            {number: places.tolist() for number, places in of.places.items()},
            {number: cpu.tolist() for number, cpu in of.cpu.items()},
            {tier: of._taken[tier].tolist() for tier in Tier},
            of._closed.tolist(),
            sorted(of._overdue),
            of._vacant.tolist(),
            {tier: of._heat[tier].tolist() for tier in Tier},
        )
    if isinstance(of, ManyHosts):
        for tier in Tier:
            of.rank(tier, 0)  # brings the places that it would offer up to date
        return (
            *common,
            {number: [each.tolist() for each in spread] for number, spread in of.spreads.items()},
            {tier: of.used[tier].tolist() for tier in Tier},
            {tier: of.rooms[tier].tolist() for tier in Tier},
            {tier: of._load[tier].round(9).tolist() for tier in Tier},
            of._closed.tolist(),
            of._hot_load.round(9).tolist(),
            sorted(of._overdue),
            {tier: of._unshared[tier].tolist() for tier in Tier},
            {tier: of._shared[tier].tolist() for tier in Tier},
            {tier: of._heat[tier].tolist() for tier in Tier},
        )
    return (
        *common,
        {tier: tuple(of.used[tier]) for tier in Tier},
        {tier: tuple(round(load, 9) for load in of.load[tier]) for tier in Tier},
        tuple(of.closed),
        tuple(round(load, 9) for load in of._hot_load),
        {tier: [of.room(tier, host) for host in range(len(of.hosts))] for tier in Tier},
        of.overdue(),
        of.evictable(),
    )


def loads(of, tier):
    """What the processes of a tier use, by node."""
    return {
        host: of.cpu[tier][host] for host, number in enumerate(of.jobs[tier]) if number is not None
    }


def empty(of):
    """A cluster of the same hosts with nothing on them."""
    if isinstance(of, Counted):
        return Counted(of.hosts[0].slots)
    if isinstance(of, Nodes | ManyNodes):
        return type(of)(len(of.hosts), of.threshold)
    if isinstance(of, ManyHosts):
        return ManyHosts(len(of.hosts), of.slots, of.tiers, of.threshold)
    return Hosts(of.hosts, of.threshold)


def recounted(of):
    """A cluster with the same runs, counted anew."""
    fresh = empty(of)
    for run in of.runs.values():
        fresh.adopt(run)
    return fresh


def forget_ends(of):
    """A cluster with the same runs whose ends are unknown."""
    fresh = empty(of)
    for run in of.runs.values():
        fresh.adopt(run._replace(until=math.inf))
    return fresh


def held_by_later(job, held):
    """Slots of the jobs that arrived after `job`."""
    return sum(other.size for other in held if other.order > job.order)
