"""Guests, claims and a hypervisor in memory."""

from dataclasses import replace

from nova_twotier.agent.claims import Claim, HostClaims
from nova_twotier.agent.guests import Gone, Guest
from nova_twotier.agent.priority import Rules
from nova_twotier.core.actions import Tier
from nova_twotier.core.meter import MeterRules
from nova_twotier.ledger.shape import Shape
from nova_twotier.ledger.tree import TierHost

FG, BG = Tier.FG, Tier.BG
CPUS = frozenset(range(6))
#: What Nova gives a VM.
PLAIN = {"weight": 1024, "vcpus": (CPUS,), "emulator": CPUS}
METER = MeterRules(window=4.0, close_samples=3, open_samples=5)
RULES = Rules({FG: 10000, BG: 100}, (2, 3, 4, 5), frozenset({0, 1}))


def guest(uuid, **rest):
    return Guest(uuid, **{**PLAIN, **rest})


def host_claims(slots=2, **claims):
    """`a=(FG, 0.5)` and so on."""
    held = {
        uuid: Claim(tier, None if cpu is None else round(100 * cpu))
        for uuid, (tier, cpu) in claims.items()
    }
    host = TierHost("host1", Shape(slots, 2), {FG: "front", BG: "back"}) if slots else None
    return HostClaims(host, held)


class FakeHost:
    """A hypervisor that does what it is told, unless `refuses` raises."""

    def __init__(self, *guests):
        self.held = {guest.uuid: guest for guest in guests}
        self.applied = []
        self.used = {}
        self.refuses = lambda uuid: None
        self.asks = None

    def running(self):
        self.refuses(None)
        return [*self.held]

    def is_busy(self, uuid):
        return self.guest(uuid).busy

    def lift(self, uuid, weight):
        self.held[uuid] = replace(self.held[uuid], weight=weight)

    def guest(self, uuid):
        self.refuses(uuid)
        if uuid not in self.held:
            raise Gone(uuid)
        return self.held[uuid]

    def cpu_time(self, uuid):
        self.guest(uuid)
        return self.used.get(uuid, 0.0)

    def apply(self, guest, wanted):
        self.guest(guest.uuid)
        self.applied.append(guest.uuid)
        had = self.held[guest.uuid]
        self.held[guest.uuid] = replace(
            had,
            weight=wanted.weight or had.weight,
            vcpus=tuple(wanted.vcpus or pinned for pinned in had.vcpus),
            emulator=wanted.emulator or had.emulator,
            idle=wanted.idle,
        )
