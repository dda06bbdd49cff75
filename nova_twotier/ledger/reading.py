"""Parses Placement's answers about tiers: pure functions."""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from nova_twotier.core.actions import BG, FG, Tier
from nova_twotier.core.slots import closed_slots, next_slot_load, tiers_of
from nova_twotier.ledger.names import (
    CPU,
    JOB_SIZE,
    JOBS_TRAIT,
    LINK_TRAIT,
    MBPS,
    SLOT,
    TRAIT,
    pool_trait,
)

#: One read that shows both tiers of each host with a free slot.
CANDIDATES_URL = f"/allocation_candidates?resources={SLOT}:1"
#: One read that shows the free bandwidth of all links.
LINKS_URL = f"/allocation_candidates?resources={MBPS}:1&required={LINK_TRAIT}"
#: One read that shows the largest bandwidth that jobs of each pool ever asked for.
LARGEST_URL = f"/allocation_candidates?resources={MBPS}:1&required={JOBS_TRAIT}"
#: One read that shows both.
NETWORK_URL = f"/allocation_candidates?resources={MBPS}:1"

_UUID = "(?s:.{36})"
_AMOUNT = r'\{"capacity": (\d+), "used": (\d+)\}'
#: A summary of a provider of ours, as Placement writes it.
_SUMMARY = (
    rf'"({_UUID})": {{"resources": {{(?:(?:"{SLOT}": {_AMOUNT}|"{CPU}": {_AMOUNT})(?:, )?)*}}, '
    rf'"traits": \[([^\]]*)\], "parent_provider_uuid": "{_UUID}", '
    rf'"root_provider_uuid": "({_UUID})"}}'
)
#: A summary, and the text after it if that is another summary.
_SUMMARIES = re.compile(f"{_SUMMARY}(?:, {_SUMMARY})?")
#: Group number of the first summary's host.
_ROOT = 7
_BEFORE_RESOURCES = len(f'"{"-" * 36}')


def candidates_url(tier: Tier, host: str | None = None, pool: str | None = None) -> str:
    """URL that reads both tiers of all hosts with a free slot in `tier`, or of one host.

    :param host: the host provider's uuid.
    :param pool: trait of the pool whose hosts are wanted; None for any pool.
    """
    only = f"in_tree={host}&" if host else ""
    traits = f"{TRAIT[tier]},{pool}" if pool else TRAIT[tier]
    return f"/allocation_candidates?{only}required={traits}&resources={SLOT}:1"


class TierView(NamedTuple):
    """One tier of a host: its provider, its places in all and in use, and the CPU load."""

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
        """The number of its places, including withheld ones."""
        return self.cpu_capacity // 100

    @property
    def load(self) -> float:
        """Sum of the CPU utilisations of its processes."""
        return self.cpu_used / 100


class HostView(NamedTuple):
    """Both tiers of a host, as Placement counts them.

    A flat tuple instead of two views, because a request makes ten thousand of them.
    """

    fg_provider: str
    fg_capacity: int
    fg_used: int
    fg_cpu_capacity: int
    fg_cpu_used: int
    bg_provider: str
    bg_capacity: int
    bg_used: int
    bg_cpu_capacity: int
    bg_cpu_used: int

    @property
    def fg(self) -> TierView:
        return TierView._make(self[:_HALF])

    @property
    def bg(self) -> TierView:
        return TierView._make(self[_HALF:])

    def tier(self, tier: Tier) -> TierView:
        return self.fg if tier is FG else self.bg

    def room(self, tier: Tier) -> tuple[str, int]:
        """A tier's provider and its number of free places."""
        if tier is FG:
            return self.fg_provider, self.fg_capacity - self.fg_used
        return self.bg_provider, self.bg_capacity - self.bg_used

    @property
    def slots(self) -> int:
        return self.fg_capacity

    @property
    def share(self) -> int:
        """Background processes that a slot takes, K-1."""
        return self.bg_cpu_capacity // (self.fg_cpu_capacity or 100) or 1

    @property
    def tiers(self) -> int:
        """K; 1 if the host has no background."""
        return tiers_of(self.slots, self.bg.places)

    @property
    def closed(self) -> int:
        """Slots that are closed to the background, derived from its withheld places."""
        return closed_slots(self.slots, self.tiers, self.bg_capacity)

    def open_background(self, hot_points: int, unread_closed: bool) -> int:
        """Background processes that the host may hold: K-1 on each slot that is not closed.

        :param hot_points: CPU points from which on a foreground process closes its slot.
        :param unread_closed: whether all foreground processes do if none of them has points.
        """
        _fg, slots, used, _fg_cpu, points, _bg, places, _bg_used, _bg_cpu, _bg_points = self
        hot = used if unread_closed and not points else least_hot(used, points, hot_points)
        share = self.share
        opened = min(places // share, slots - hot)
        return opened * share if opened > 0 else 0

    def load_beside(self, tier: Tier, placed: int) -> float:
        """The load beside the next process of `tier`, after `placed` more than Placement shows.

        The same load as in `core.hosts.Hosts.rank`; a closed slot counts as fully used.
        """
        _fg, slots, fg_used, _fg_cpu, fg_points, _bg, bg_places, bg_used, _bg_cpu, bg_points = self
        share = self.share
        if tier is FG:
            beside = -(-bg_used // share)
            return next_slot_load(slots, fg_used + placed, beside, bg_points / 100)
        closed = max(0, slots - bg_places // share)
        beside = fg_used - closed
        if beside <= 0:
            return 0.0
        load = max(0.0, fg_points / 100 - closed)
        return next_slot_load(slots - closed, (bg_used + placed) // share, beside, load)


def least_hot(used: int, points: int, hot: int) -> int:
    """The least number of `used` processes that must have `hot` or more CPU points, by their sum.

    Exact for one process, and if all use their slots fully.

    :param points: the sum of their points.
    """
    cold = hot - 1
    excess = points - cold * used
    return min(used, -(-excess // (100 - cold))) if excess > 0 else 0


#: Index of the background's first field in a view of both tiers.
_HALF = len(TierView._fields)

#: Makes a view from a tuple of its fields, faster than by keyword.
_host_view = partial(tuple.__new__, HostView)


class Admission(NamedTuple):
    """A job's entry, as the scheduler needs it.

    :param project: the job's project.
    :param user: the id of the one request that may boot its VMs, see `claims.admit`.
    :param pool: the trait of the tiers of its pool's hosts.
    :param size: its number of VMs.
    :param links: its reserved bandwidth, Mbit/s by the uuid of a link's provider.
    """

    tier: Tier
    project: str
    user: str
    pool: str
    size: int = 0
    links: Mapping[str, int] = MappingProxyType({})


def admission(allocations: Mapping) -> Admission | None:
    """A job's entry from `GET /allocations/{job}`, or None."""
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
    """Free Mbit/s of links by provider, from `GET` of `LINKS_URL` or `NETWORK_URL`.

    Full links are missing.
    """
    found = {}
    for provider, summary in candidates["provider_summaries"].items():
        if mbps := summary["resources"].get(MBPS):
            found[provider] = mbps["capacity"] - mbps["used"]
    return found


def largest_mbps(candidates: Mapping) -> int:
    """The largest bandwidth that jobs of any pool ever asked for, Mbit/s; 0 if none is published.

    From `GET` of `LARGEST_URL` or `NETWORK_URL`.
    """
    return max(
        (
            summary["resources"][MBPS]["capacity"]
            for summary in candidates["provider_summaries"].values()
            if JOBS_TRAIT in summary["traits"] and MBPS in summary["resources"]
        ),
        default=0,
    )


def wanted_tier(allocations: Mapping) -> Tier | None:
    """The tier that a job's entry asks for, or None."""
    entry = admission(allocations)
    return entry.tier if entry else None


def host_views(candidates: Mapping) -> dict[str, HostView]:
    """Views by host provider uuid, from `GET` of candidates. Full hosts are missing."""
    fgs, bgs = _views(candidates, FG), _views(candidates, BG)
    return {root: HostView(*fg, *bgs[root]) for root, fg in fgs.items() if root in bgs}


def _views(candidates: Mapping, tier: Tier) -> dict[str, TierView]:
    return {
        summary["root_provider_uuid"]: _view(provider, summary["resources"])
        for provider, summary in candidates["provider_summaries"].items()
        if TRAIT[tier] in summary["traits"]
    }


def scan_host_views(text: str) -> dict[str, HostView]:
    """Like `host_views`, but from the undecoded answer, in a tenth of the time.

    For ten thousand hosts the answer has some 30 MB, nearly all of it traits of the hosts' own
    providers. Decoding them would take longer than filtering and weighing the hosts.

    :raises ValueError: if it is not JSON; KeyError: if it is not about candidates.
    """
    if '"provider_summaries"' in text:
        # It fails only if Placement has changed the way it writes the answer.
        with contextlib.suppress(ValueError):
            return _scan(text)
    return host_views(json.loads(text))


def _scan(text: str) -> dict[str, HostView]:
    """Views of all hosts, by provider uuid.

    :raises ValueError: if a tier's trait is not in a summary of the expected form.
    """
    views, alone = {}, {}
    other = f'"{TRAIT[BG]}"'
    for found in _summaries(text, FG):
        fg, slots, used, cpu, points, _, root, bg, slots2, used2, cpu2, points2, traits, root2 = (
            found
        )
        front = fg, int(slots), int(used), int(cpu), int(points)
        if root2 == root and other in traits:
            back = bg, int(slots2), int(used2), int(cpu2), int(points2)
            views[root] = _host_view((*front, *back))
        else:
            alone[root] = front
    # The ledger makes a background after its foreground, but Placement guarantees no order.
    if alone:
        for bg, slots, used, cpu, points, _, root, *_ in _summaries(text, BG):
            if root in alone:
                back = bg, int(slots), int(used), int(cpu), int(points)
                views[root] = _host_view((*alone[root], *back))
    return views


def _summaries(text: str, tier: Tier) -> Iterator[tuple[str, ...]]:
    """The fields of each summary with the trait of a tier, and of the summary after it."""
    trait = f'"{TRAIT[tier]}"'
    at = text.find(trait)
    while at >= 0:
        start = text.rindex('": {"resources": ', 0, at) - _BEFORE_RESOURCES
        found = _SUMMARIES.match(text, start)
        if not found or found.end(_ROOT) < at:
            raise ValueError(f"no summary around {trait} at {at}")
        yield found.groups("0")
        at = text.find(trait, found.end(_ROOT))


_NONE = {"capacity": 0, "used": 0}


def _view(provider: str, resources: Mapping) -> TierView:
    slot, cpu = resources.get(SLOT, _NONE), resources.get(CPU, _NONE)
    return TierView(provider, slot["capacity"], slot["used"], cpu["capacity"], cpu["used"])
