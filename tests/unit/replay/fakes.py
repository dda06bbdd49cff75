"""Builders of samples, for the tests of the replay."""

from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import Tier
from nova_twotier.ledger.claims import Claim
from nova_twotier.ledger.tree import Shape, TierHost
from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.sampling import Sample
from nova_twotier.tools.replay.workload import ReplayJob

FG, BG = Tier.FG, Tier.BG
SHAPES = {name: Shape(2, 2) for name in ("h1", "h2")}
HOSTS = tuple(
    TierHost(name, shape, {tier: f"{name}-{tier}" for tier in Tier})
    for name, shape in SHAPES.items()
)


def roster(*jobs):
    """A roster of jobs, each given as its processes' CPU utilisations and its run time."""
    made = Roster()
    for number, (cpu, runtime) in enumerate(jobs, start=1):
        job = ReplayJob(number, f"j-{number}", 0.0, runtime, None, len(cpu), tuple(cpu))
        made.add(Entry(number, f"u{number}", job))
    return made


def sample(at, *vms, hosts=HOSTS, others=()):
    """VMs as `(job, process, host, tier)`, with status and task after that if not ACTIVE.

    A VM of tier None holds no claim; one of a list of tiers holds them all. `others` are claims of
    unmanaged servers, as `(host, tier)`.
    """
    servers, claims = [], {}
    for job, process, host, tier, *rest in vms:
        status, task = (*rest, *("ACTIVE", None)[len(rest) :])
        vm = f"vm{job}-{process}"
        servers.append(Server(vm, f"u{job}", process, status, task, host))
        tiers = tier if isinstance(tier, list) else [tier] if tier else []
        if tiers:
            claims[vm] = [Claim(vm, host, Tier(each), 0) for each in tiers]
    for index, (host, tier) in enumerate(others):
        claims[f"other{index}"] = [Claim(f"other{index}", host, Tier(tier), 0)]
    return Sample(at, hosts, tuple(servers), claims)
