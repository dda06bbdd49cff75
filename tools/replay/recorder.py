"""Turns samples into a history: where each VM was and when, and what happened to jobs."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import Tier
from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.sampling import Sample

SHELVED = "SHELVED_OFFLOADED"
UP = ("ACTIVE", "SHUTOFF")


class Kind(StrEnum):
    """Why a VM came to a place, or left it; and what happened to a job."""

    START = "start"
    SWAP = "swap"
    MIGRATE = "migrate"
    EVICT = "evict"
    RESTORE = "restore"
    END = "end"


@dataclass(slots=True)
class Interval:
    """A VM on one host in one tier; times in wall seconds since the replay began."""

    job: int
    process: int
    host: str
    tier: Tier
    begin: float
    came: Kind
    end: float | None = None
    left: Kind | None = None


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that a whole job did, with `vms` of its processes."""

    at: float
    kind: Kind
    job: int
    tier: Tier | None
    vms: int


@dataclass(slots=True)
class _Gang:
    """What is known of a job: where it last was as a whole, and whether it is saved."""

    tier: Tier | None = None
    hosts: tuple[str, ...] = ()
    saved: bool = False


@dataclass
class Recorder:
    """Follows the servers of a roster. `began` is subtracted from all times."""

    roster: Roster
    began: float
    intervals: list[Interval] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)
    _open: dict[str, Interval] = field(default_factory=dict)
    _gangs: dict[str, _Gang] = field(default_factory=dict)
    _shelved: set[str] = field(default_factory=set)
    #: Every server that a job of the roster ever had.
    seen: set[str] = field(default_factory=set)

    def see(self, sample: Sample) -> None:
        at = sample.at - self.began
        gangs = sample.gangs()
        present = set()
        for uuid, gang in gangs.items():
            entry = self.roster.find(uuid)
            if entry is None:
                continue
            for server in gang:
                present.add(server.id)
                self._follow(at, entry, server, sample)
            self._whole(at, entry, gang)
        self.seen |= present
        for vm in [vm for vm in self._open if vm not in present]:
            self._close(vm, at, Kind.END)
        for uuid, state in self._gangs.items():
            if state.tier and uuid not in gangs:
                size = len(state.hosts)
                self._note(at, Kind.END, self.roster.find(uuid), state.tier, size)
                state.tier, state.saved = None, False

    def finish(self, at: float) -> None:
        """Close what is open still; it has no `left`."""
        for vm in list(self._open):
            self._close(vm, at - self.began, None)

    def _follow(self, at: float, entry: Entry, server: Server, sample: Sample) -> None:
        """A server that shows no claim, or two, stays where it was, unless it is shelved."""
        claim = sample.claim(server)
        known = self._open.get(server.id)
        if claim is None:
            if known and server.status == SHELVED:
                self._close(server.id, at, Kind.EVICT)
                self._shelved.add(server.id)
            return
        if known is None:
            came = Kind.RESTORE if server.id in self._shelved else Kind.START
        elif (known.host, known.tier) == (claim.host, claim.tier):
            return
        else:
            came = Kind.SWAP if known.host == claim.host else Kind.MIGRATE
            self._close(server.id, at, came)
        interval = Interval(entry.number, server.index, claim.host, claim.tier, at, came)
        self._open[server.id] = interval
        self.intervals.append(interval)

    def _close(self, vm: str, at: float, left: Kind | None) -> None:
        interval = self._open.pop(vm)
        interval.end, interval.left = at, left

    def _whole(self, at: float, entry: Entry, gang: list[Server]) -> None:
        """Notice when a whole job has started, changed its place, left or come back."""
        if len(gang) != entry.size:
            return
        state = self._gangs.setdefault(entry.uuid, _Gang())
        if state.tier and all(server.status == SHELVED for server in gang):
            self._note(at, Kind.EVICT, entry, state.tier, entry.size)
            state.tier, state.saved = None, True
            return
        places = [self._open.get(server.id) for server in gang]
        tiers = {place and place.tier for place in places}
        if len(tiers) > 1 or None in tiers or not all(server.status in UP for server in gang):
            return
        tier = tiers.pop()
        hosts = tuple(place.host for place in places)
        if state.tier is None:
            kind = Kind.RESTORE if state.saved else Kind.START
            self._note(at, kind, entry, tier, entry.size)
        else:
            moved = _count(old != new for old, new in zip(state.hosts, hosts, strict=True))
            if moved:
                self._note(at, Kind.MIGRATE, entry, tier, moved)
            if state.tier is not tier and moved < entry.size:
                self._note(at, Kind.SWAP, entry, tier, entry.size - moved)
        state.tier, state.hosts, state.saved = tier, hosts, False

    def _note(self, at: float, kind: Kind, entry: Entry, tier: Tier | None, vms: int) -> None:
        self.happenings.append(Happening(at, kind, entry.number, tier, vms))


def _count(truths: Iterable[bool]) -> int:
    return sum(1 for truth in truths if truth)
