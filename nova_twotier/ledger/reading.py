"""What answers of Placement say about tiers: pure functions of what it returns."""

import contextlib
import json
import re
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.ranking import next_slot_load
from nova_twotier.ledger.names import CPU, JOB_SIZE, LINK_TRAIT, MBPS, SLOT, TRAIT, pool_trait

#: One read that shows, for each host with a free slot, both of its tiers.
CANDIDATES_URL = f"/allocation_candidates?resources={SLOT}:1"
#: One read that shows what all links have left.
LINKS_URL = f"/allocation_candidates?resources={MBPS}:1&required={LINK_TRAIT}"

_UUID = "(?s:.{36})"
_AMOUNT = r'\{"capacity": (\d+), "used": (\d+)\}'
#: A summary of a provider of ours, as Placement writes it.
_SUMMARY = re.compile(
    rf'"({_UUID})": {{"resources": {{(?:(?:"{SLOT}": {_AMOUNT}|"{CPU}": {_AMOUNT})(?:, )?)*}}, '
    rf'"traits": \[[^\]]*\], "parent_provider_uuid": "{_UUID}", "root_provider_uuid": "({_UUID})"}}'
)
_BEFORE_RESOURCES = len(f'"{"-" * 36}')


def candidates_url(tier: Tier, host: str | None = None, pool: str | None = None) -> str:
    """The read of the hosts with a free slot in `tier`, or of one host: both tiers of each.

    :param host: the host provider's uuid.
    :param pool: trait of the pool whose hosts are wanted; None: of any.
    """
    only = f"in_tree={host}&" if host else ""
    traits = f"{TRAIT[tier]},{pool}" if pool else TRAIT[tier]
    return f"/allocation_candidates?{only}required={traits}&resources={SLOT}:1"


class TierView(NamedTuple):
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
    def places(self) -> int:
        """The places that it has when none is withheld."""
        return self.cpu_capacity // 100

    @property
    def load(self) -> float:
        """Sum of the CPU utilisations of the processes there."""
        return self.cpu_used / 100

    def hot(self, points: int) -> int:
        """How many processes use at least `points` CPU points, as far as their sum is proof of it.

        Exact for one process, and where all use their slots up.
        """
        cold = points - 1
        excess = self.cpu_used - cold * self.used
        return min(self.used, -(-excess // (100 - cold))) if excess > 0 else 0

    @property
    def unread(self) -> bool:
        """Whether there are processes, and of none is known how much CPU it uses."""
        return self.used > 0 and not self.cpu_used


class HostView(NamedTuple):
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
        return self.bg.cpu_capacity // (self.fg.cpu_capacity or 100) or 1

    @property
    def closed(self) -> int:
        """Slots that are closed to the background: what is missing of the background's places."""
        return max(0, self.slots - self.bg.capacity // self.share)

    def open_background(self, hot_points: int, unread_closed: bool) -> int:
        """Background processes that the host may hold: K-1 on each slot that is not closed.

        :param hot_points: CPU points from which on a foreground process closes its slot.
        :param unread_closed: whether foreground processes do, as long as nothing is known of any.
        """
        fg, bg = self
        hot = fg.used if unread_closed and fg.unread else fg.hot(hot_points)
        share = self.share
        slots = min(bg.capacity // share, fg.capacity - hot)
        return slots * share if slots > 0 else 0

    def load_beside(self, tier: Tier, placed: int) -> float:
        """The load beside the next process of `tier`, after `placed` more than Placement shows.

        The same as `core.cluster.Cluster.rank` sees; a closed slot counts as fully used.
        """
        fg, bg = self
        if tier is FG:
            if not bg.used:
                return 0.0
            beside = -(-bg.used // self.share)
            return next_slot_load(fg.capacity, fg.used + placed, beside, bg.cpu_used / 100)
        share = self.share
        closed = max(0, fg.capacity - bg.capacity // share)
        beside = fg.used - closed
        if beside <= 0:
            return 0.0
        load = max(0.0, fg.cpu_used / 100 - closed)
        return next_slot_load(fg.capacity - closed, (bg.used + placed) // share, beside, load)


#: Views of their fields, in a tuple: in less time than by name.
_tier_view = partial(tuple.__new__, TierView)
_host_view = partial(tuple.__new__, HostView)


class Admission(NamedTuple):
    """What a job's entry says to the scheduler.

    :param project: the job's.
    :param user: the id of the one request that may boot its VMs, see `claims.admit`.
    :param pool: the trait that the tiers of its pool's hosts have.
    :param size: its number of VMs.
    :param links: the bandwidth that it holds, Mbit/s by the uuid of a link's provider.
    """

    tier: Tier
    project: str
    user: str
    pool: str
    size: int = 0
    links: Mapping[str, int] = MappingProxyType({})


def admission(allocations: Mapping) -> Admission | None:
    """A job's entry, from `GET /allocations/{job}`, or None."""
    held = {
        provider: allocation["resources"]
        for provider, allocation in allocations.get("allocations", {}).items()
    }
    for provider, resources in held.items():
        for tier, resource_class in JOB_SIZE.items():
            if size := resources.get(resource_class):
                owner = allocations["project_id"], allocations["user_id"]
                links = {uuid: each[MBPS] for uuid, each in held.items() if MBPS in each}
                return Admission(tier, *owner, pool_trait(provider), size, links)
    return None


def links_left(candidates: Mapping) -> dict[str, int]:
    """Mbit/s that links have left, by their providers, from `GET` of `LINKS_URL`.

    Full links are missing there.
    """
    found = {}
    for provider, summary in candidates["provider_summaries"].items():
        if mbps := summary["resources"].get(MBPS):
            found[provider] = mbps["capacity"] - mbps["used"]
    return found


def wanted_tier(allocations: Mapping) -> Tier | None:
    """The tier that a job's entry asks for, or None."""
    entry = admission(allocations)
    return entry.tier if entry else None


def host_views(candidates: Mapping) -> dict[str, HostView]:
    """Views by host provider uuid, from `GET` of candidates. Full hosts are missing there."""
    return _paired(_views(candidates, FG), _views(candidates, BG))


def _views(candidates: Mapping, tier: Tier) -> dict[str, TierView]:
    return {
        summary["root_provider_uuid"]: _view(provider, summary["resources"])
        for provider, summary in candidates["provider_summaries"].items()
        if TRAIT[tier] in summary["traits"]
    }


def scan_host_views(text: str) -> dict[str, HostView]:
    """As `host_views`, from the undecoded answer, in a fifth of the time.

    At ten thousand hosts it has some 30 MB, nearly all of it traits that Nova put on the hosts' own
    providers: to decode them would take longer than to filter and weigh the hosts.

    :raises ValueError: if it is not JSON; KeyError: if it is not about candidates.
    """
    if '"provider_summaries"' in text:
        # If it cannot, Placement writes it in some other way than it did so far.
        with contextlib.suppress(ValueError):
            return _paired(_scan(text, FG), _scan(text, BG))
    return host_views(json.loads(text))


def _scan(text: str, tier: Tier) -> dict[str, TierView]:
    """Views of one tier, by host provider uuid.

    :raises ValueError: if its trait stands elsewhere than in a summary as we know them.
    """
    views = {}
    trait = f'"{TRAIT[tier]}"'
    at = text.find(trait)
    while at >= 0:
        start = text.rindex('": {"resources": ', 0, at) - _BEFORE_RESOURCES
        found = _SUMMARY.match(text, start)
        if not found or found.end() < at:
            raise ValueError(f"no summary around {trait} at {at}")
        provider, slots, used, cpu, cpu_used, root = found.groups("0")
        views[root] = _tier_view((provider, int(slots), int(used), int(cpu), int(cpu_used)))
        at = text.find(trait, found.end())
    return views


def _paired(fgs: Mapping[str, TierView], bgs: Mapping[str, TierView]) -> dict[str, HostView]:
    return {root: _host_view((fg, bgs[root])) for root, fg in fgs.items() if root in bgs}


_NONE = {"capacity": 0, "used": 0}


def _view(provider: str, resources: Mapping) -> TierView:
    slot, cpu = resources.get(SLOT, _NONE), resources.get(CPU, _NONE)
    return TierView(provider, slot["capacity"], slot["used"], cpu["capacity"], cpu["used"])
