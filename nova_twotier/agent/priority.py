"""Works out the CPU priority of each VM on a host: its weight and the CPUs of its slot. Pure."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nova_twotier.agent.claims import Claim, HostClaims
from nova_twotier.agent.guests import Cpus, Guest, Priority
from nova_twotier.core.actions import Tier
from nova_twotier.core.slot_assignment import assign
from nova_twotier.core.slots import THRESHOLD

NOBODY: Mapping[str, Claim] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Rules:
    """The CPU weights of the tiers, and the CPUs for slots and emulators; see `conf.agent`.

    :param background_idle: background VMs are idle for the kernel.

    :param slot_cpus: host CPUs of all slots, in order; empty: VMs are not pinned.
    :param emulator_cpus: host CPUs of emulator threads; empty: they are not pinned.
    """

    weights: Mapping[Tier, int]
    slot_cpus: Sequence[int] = ()
    emulator_cpus: Cpus = frozenset()
    threshold: float = THRESHOLD
    background_idle: bool = False

    def pins(self, slots: int) -> bool:
        """Whether VMs are pinned on a host with so many slots: each slot needs a CPU."""
        return 0 < slots <= len(self.slot_cpus)

    def cpus(self, slot: int, slots: int) -> Cpus:
        """The CPUs of a slot: of n CPUs, each slot gets n/L that follow each other."""
        count = len(self.slot_cpus)
        return frozenset(self.slot_cpus[slot * count // slots : (slot + 1) * count // slots])


def priorities(
    host: HostClaims,
    guests: Collection[Guest],
    rules: Rules,
    leaving: Mapping[str, Claim] = NOBODY,
) -> dict[str, Priority]:
    """The CPU priority of each VM that has a claim on a slot, by uuid.

    While a VM is paused, being started, saved, restored or migrated, it has the foreground's
    weight, whatever its tier: it hardly uses CPU time, and what is done to it would take long.

    :param leaving: the last claims of VMs that have none any more and still run. They keep their
        slots where others leave them the room.
    """
    ours = {guest.uuid: guest for guest in guests if guest.uuid in host.claims}
    there = {guest.uuid: guest for guest in guests if guest.uuid in leaving} | ours
    seats = _seats(host, there, rules, leaving) if rules.pins(host.slots) else {}
    wanted = {}
    for uuid, guest in ours.items():
        tier = Tier.FG if guest.paused or guest.busy else host.claims[uuid].tier
        weight = None if guest.weight is None else rules.weights[tier]
        idle = weight is not None and tier is Tier.BG and rules.background_idle
        cpus = rules.cpus(seats[uuid], host.slots) if uuid in seats else None
        wanted[uuid] = Priority(weight, cpus, rules.emulator_cpus or None, idle)
    return wanted


def _seats(
    host: HostClaims, guests: Mapping[str, Guest], rules: Rules, leaving: Mapping[str, Claim]
) -> dict[str, int]:
    """The slot of each VM, by uuid; the slots that they have now follow from their pinning."""
    slot_of = {rules.cpus(slot, host.slots): slot for slot in range(host.slots)}
    held = {
        uuid: slot_of[guest.vcpus[0]]
        for uuid, guest in guests.items()
        if len(set(guest.vcpus)) == 1 and guest.vcpus[0] in slot_of
    }
    # In the order of their uuids, so that the result depends on nothing else.
    claims = {uuid: host.claims[uuid] for uuid in sorted(guests) if uuid in host.claims}
    left = {uuid: leaving[uuid] for uuid in sorted(guests) if uuid not in host.claims}
    front, back = _load(claims, Tier.FG), _load(claims | left, Tier.BG)
    room = max(0, host.slots - len(front))
    front.update(itertools.islice(_load(left, Tier.FG).items(), room))
    return assign(host.slots, front, back, held, rules.threshold)


def _load(claims: Mapping[str, Claim], tier: Tier) -> dict[str, float]:
    return {uuid: claim.cpu for uuid, claim in claims.items() if claim.tier is tier}
