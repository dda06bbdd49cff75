"""What answers of Placement say about tiers: pure functions of decoded JSON."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_twotier.core.actions import Tier
from nova_twotier.core.ranking import next_slot_load
from nova_twotier.ledger.names import CPU, JOB_SIZE, SLOT, TRAIT

#: One read that shows, for each host with a free slot, both of its tiers.
CANDIDATES_URL = f"/allocation_candidates?resources={SLOT}:1"


@dataclass(frozen=True, slots=True)
class TierView:
    """One tier of a host: its provider, the places it has and those in use, and the CPU load."""

    provider: str
    capacity: int = 0
    used: int = 0
    cpu_capacity: int = 0
    cpu_used: int = 0

    @property
    def free(self) -> int:
        return self.capacity - self.used

    @property
    def load(self) -> float:
        """Sum of the CPU utilisations of the processes there."""
        return self.cpu_used / 100


@dataclass(frozen=True, slots=True)
class HostView:
    """Both tiers of a host, as Placement counts them."""

    fg: TierView
    bg: TierView

    def tier(self, tier: Tier) -> TierView:
        return self.fg if tier is Tier.FG else self.bg

    @property
    def slots(self) -> int:
        return self.fg.capacity

    @property
    def share(self) -> int:
        """Background processes a slot takes, K-1."""
        return max(1, round(self.bg.cpu_capacity / 100 / self.slots)) if self.slots else 1

    @property
    def closed(self) -> int:
        """Slots that are closed to the background: what is missing of the background's places."""
        return max(0, self.slots - self.bg.capacity // self.share)

    def load_beside(self, tier: Tier, placed: int) -> float:
        """The load beside the next process of `tier`, after `placed` more than Placement shows.

        The same as `core.cluster.Cluster.rank` sees; a closed slot counts as fully used.
        """
        own = self.tier(tier).used + placed
        if tier is Tier.FG:
            return next_slot_load(self.slots, own, -(-self.bg.used // self.share), self.bg.load)
        return next_slot_load(
            self.slots - self.closed,
            own // self.share,
            self.fg.used - self.closed,
            max(0.0, self.fg.load - self.closed),
        )


def wanted_tier(allocations: Mapping) -> Tier | None:
    """The tier that a job's entry asks for, from `GET /allocations/{job}`, or None."""
    for allocation in allocations.get("allocations", {}).values():
        for tier, resource_class in JOB_SIZE.items():
            if allocation["resources"].get(resource_class):
                return tier
    return None


def host_views(candidates: Mapping) -> dict[str, HostView]:
    """Views by host provider uuid, from `GET` of `CANDIDATES_URL`. Full hosts are missing there."""
    tiers = {}
    for provider, summary in candidates["provider_summaries"].items():
        for tier, trait in TRAIT.items():
            if trait in summary["traits"]:
                tiers.setdefault(summary["root_provider_uuid"], {})[tier] = _view(provider, summary)
    return {
        root: HostView(found[Tier.FG], found[Tier.BG])
        for root, found in tiers.items()
        if len(found) == len(Tier)
    }


def _view(provider: str, summary: Mapping) -> TierView:
    slot = summary["resources"].get(SLOT, {"capacity": 0, "used": 0})
    cpu = summary["resources"].get(CPU, {"capacity": 0, "used": 0})
    return TierView(provider, slot["capacity"], slot["used"], cpu["capacity"], cpu["used"])
