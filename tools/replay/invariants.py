"""Checks what must always hold, on what Nova and Placement showed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

from nova_twotier.core.actions import Tier
from nova_twotier.core.slots import THRESHOLD, is_hot
from nova_twotier.tools.replay.guests import Guests
from nova_twotier.tools.replay.roster import Roster
from nova_twotier.tools.replay.sampling import Sample

CAPACITY = "no slot given twice"
ONE_CLAIM = "no VM holds two slots"
CLOSED = "no background VM stays under a closed slot"
GANG = "no job has more servers than processes"
WHOLE = "no job counts as running without all its servers"
ONCE = "every job finished exactly once, with its work done"
CLEAN = "no server, server group, claim or job entry left at the end"

#: Samples in a row that may show background VMs under a slot that was closed. Nova may place
#: several jobs at once, each as if it were alone, and a job that is just starting cannot be moved;
#: then the manager makes room.
LAG = 30
#: Servers that have no VM in these.
AWAY = ("SHELVED", "SHELVED_OFFLOADED")


@dataclass
class Invariant:
    """An invariant: how often it was checked, and how it was broken.

    :ivar checks: on servers, hosts, jobs or whatever it is about; 0 if there were none to check.
    :ivar longest: in how many samples in a row it looked broken, if one alone proves nothing.
    """

    name: str
    checks: int = 0
    longest: int = 0
    broken: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether it was checked and never found broken."""
        return bool(self.checks) and not self.broken


class Invariants:
    """All of them, over the samples of a replay.

    A sample is not of one instant. What spans providers (two claims of a VM, the background under
    a closed slot) therefore counts as broken only when several samples in a row show it.

    Delays are bounded in samples, one a second on a machine that keeps up: where it takes longer to
    take one, the manager needs longer, too.

    :param patience: samples that may show a gang that is not whole any more before the manager has
        to have noticed; for runs in which somebody else breaks gangs.
    :param lag: samples that may show background VMs under a slot that was closed.
    """

    def __init__(
        self,
        roster: Roster,
        threshold: float = THRESHOLD,
        patience: int = 0,
        lag: int = LAG,
    ):
        self._roster = roster
        self._threshold = threshold
        self._patience = patience
        self._lag = lag
        #: Numbers of the jobs that did not finish with all their work, and of those that finished,
        #: or ran, more than once.
        self.lost: set[int] = set()
        self.doubled: set[int] = set()
        #: In how many samples in a row a job counts as running and is not whole.
        self._broken: dict[int, int] = {}
        #: What the last sample showed, and how many before it in a row.
        self._suspects: dict[str, Counter[str]] = {ONE_CLAIM: Counter(), CLOSED: Counter()}
        self.all = {
            name: Invariant(name)
            for name in (CAPACITY, ONE_CLAIM, CLOSED, GANG, WHOLE, ONCE, CLEAN)
        }

    @property
    def hold(self) -> bool:
        return all(invariant.holds for invariant in self.all.values())

    def see(
        self,
        sample: Sample,
        at: float,
        running: Set[int] = frozenset(),
        cut_off: bool = False,
    ) -> None:
        """Check a sample.

        :param at: wall seconds since the replay began.
        :param running: numbers of the jobs that counted as running before it, and after it.
        :param cut_off: whether the manager cannot reach the cloud: no background VM can leave.
        """
        when = f"at {at:.0f} s"
        self._capacity(sample, when)
        self._lasting(
            ONE_CLAIM,
            when,
            {
                server.id: f"VM {server.id} holds {len(held)} slots" if len(held) > 1 else ""
                for server in sample.servers
                if (held := sample.held(server))
            },
        )
        self._lasting(CLOSED, when, self._under_closed(sample), self._lag, not cut_off)
        self._gangs(sample, when)
        self._whole(sample, when, running)

    def _capacity(self, sample: Sample, when: str) -> None:
        # Migrations hold a place of their own, under their own uuid: they count.
        used = Counter((c.host, c.tier) for held in sample.claims.values() for c in held)
        for host in sample.hosts:
            for tier in Tier:
                self._check(
                    CAPACITY,
                    used[host.name, tier] <= host.shape.places(tier),
                    f"{when} {host.name} has {used[host.name, tier]} claims for "
                    f"{host.shape.places(tier)} {tier} places",
                )

    def _under_closed(self, sample: Sample) -> dict[str, str]:
        """All hosts: what is wrong on those with more background VMs than their open slots take."""
        hot, background = Counter(), Counter()
        for server in sample.servers:
            claim = sample.claim(server)
            entry = self._roster.find(server.job)
            if claim is None or entry is None:
                continue
            if claim.tier is Tier.BG:
                background[claim.host] += 1
            elif server.index < entry.size and is_hot(entry.job.cpu[server.index], self._threshold):
                hot[claim.host] += 1
        return {
            host.name: f"{host.name} has {background[host.name]} background VMs, "
            f"{hot[host.name]} of its {host.shape.slots} slots are closed"
            if background[host.name] > (host.shape.slots - hot[host.name]) * (host.shape.tiers - 1)
            else ""
            for host in sample.hosts
        }

    def _gangs(self, sample: Sample, when: str) -> None:
        for uuid, gang in sample.gangs().items():
            if entry := self._roster.find(uuid):
                if len(gang) > entry.size:
                    self.doubled.add(entry.number)
                self._check(
                    GANG,
                    len(gang) <= entry.size,
                    f"{when} job {entry.label} has {len(gang)} servers for {entry.size} processes",
                )

    def _whole(self, sample: Sample, when: str, running: Set[int]) -> None:
        gangs = sample.gangs()
        broken = {}
        for number in running:
            entry = self._roster[number]
            gang = gangs.get(entry.uuid, ())
            up = sum(server.status not in AWAY for server in gang)
            if up != entry.size:
                broken[number] = self._broken.get(number, 0) + 1
            self._check(
                WHOLE,
                broken.get(number, 0) <= self._patience,
                f"{when} job {entry.label} counts as running with {up} of {entry.size} servers",
            )
        self._broken = broken

    def end(
        self,
        finishes: Mapping[int, int],
        rejected: Iterable[int],
        guests: Guests,
        leftovers: Iterable[str],
    ) -> None:
        """Check the end.

        :param finishes: how often each job's record says that it finished.
        :param rejected: jobs that the manager refused; they are not to finish.
        :param leftovers: what is still there, in words.
        """
        rejected = set(rejected)
        for entry in self._roster:
            times = finishes.get(entry.number, 0)
            expected = 0 if entry.number in rejected else 1
            if times == 0 or not guests.done(entry):
                self.lost.add(entry.number)
            if times > 1:
                self.doubled.add(entry.number)
            self._check(
                ONCE, times == expected, f"job {entry.label} finished {times} times, not {expected}"
            )
            if times and not guests.done(entry):
                share = guests.share(entry)
                self._check(ONCE, False, f"job {entry.label} was ended at {share:.0%} of its work")
        leftovers = list(leftovers)
        self._check(CLEAN, not leftovers, "; ".join(leftovers))

    def _lasting(
        self, name: str, when: str, found: Mapping[str, str], lag: int = 1, counts: bool = True
    ) -> None:
        """Check what more than `lag` samples in a row are not to show.

        :param found: what is wrong with each thing that was looked at, empty if nothing is.
        :param counts: whether this sample is one of them.
        """
        before = self._suspects[name]
        self._suspects[name] = Counter(
            {key: before[key] + counts for key, text in found.items() if text}
        )
        for key, text in found.items():
            self._check(name, self._suspects[name][key] <= lag, f"{when} {text}")
        invariant = self.all[name]
        invariant.longest = max((invariant.longest, *self._suspects[name].values()))

    def _check(self, name: str, holds: bool, text: str) -> None:
        invariant = self.all[name]
        invariant.checks += 1
        if not holds:
            invariant.broken.append(text)
