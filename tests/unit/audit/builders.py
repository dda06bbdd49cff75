"""Short ways to make what an audit reads: a cloud in which everything agrees, and changes to it.

Hosts `a` and `b` have two slots and two tiers. Job `j` runs its VMs `j/0` on `a` and `j/1` on `b`,
in the foreground.
"""

import dataclasses

from nova_twotier.audit.state import JobRecord, Migration, State, Vm
from nova_twotier.core.actions import Tier
from nova_twotier.ledger.claims import Claim, JobEntry
from nova_twotier.ledger.inventory import HostSlots, TierSlots
from nova_twotier.ledger.shape import Shape

FG, BG = Tier.FG, Tier.BG


def host(name, slots=2, tiers=2, reserved=0, retired=(), pool="default"):
    """
    :param reserved: background places that are withheld.
    :param retired: tiers of which all places are withheld.
    """
    places = {FG: slots, BG: slots * (tiers - 1)}
    withheld = {FG: 0, BG: reserved, **{tier: places[tier] for tier in retired}}
    return HostSlots(
        name,
        {
            tier: TierSlots(f"{name}-{tier}", places[tier], withheld[tier], tier in retired, pool)
            for tier in Tier
        },
    )


def vm(uuid, on="a", status="ACTIVE", task=None, job="j", index=0, ours=True):
    hosts = frozenset({on} if on else ())
    return Vm(uuid, status, task, hosts, ours, job, index)


def claim(uuid, on="a", tier=FG, points=50):
    return Claim(uuid, on, tier, points)


def migration(uuid, of, status="completed"):
    return {uuid: Migration(uuid, of, status)}


def record(uuid="j", size=2, tier=FG, cpu=0.5, under_way=False, **rest):
    return JobRecord(uuid, size, tier, (cpu,) * size, under_way, **rest)


def agreeing():
    return State(
        shapes={"a": Shape(2, 2), "b": Shape(2, 2)},
        reported=frozenset("ab"),
        hosts={"a": host("a"), "b": host("b")},
        claims={"j/0": [claim("j/0", "a")], "j/1": [claim("j/1", "b")]},
        entries={"j": JobEntry("j", FG, 2)},
        vms={"j/0": vm("j/0", "a", index=0), "j/1": vm("j/1", "b", index=1)},
        jobs={"j": record()},
    )


def but(state=None, **changes):
    """The agreeing state, or another, with parts of it changed; None takes a key away."""
    state = state or agreeing()
    replaced = {}
    for part, change in changes.items():
        before = getattr(state, part)
        if isinstance(change, dict) and before is not None:
            change = {**before, **change}
            change = {key: value for key, value in change.items() if value is not None}
        replaced[part] = change
    return dataclasses.replace(state, **replaced)
