"""What policies may ask of a cluster, and the register of what runs on it.

How places are counted is left to the kinds of clusters: `hosts.Hosts` knows hosts of any shape, and
`linked.Linked` their links, too; `nodes.Nodes` and `nodes.Counted` know less, and are faster.
"""

import math
import random
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from nova_twotier.core.actions import BG, FG, Action, Move, Start, Tier
from nova_twotier.core.jobs import Job, Number, Order
from nova_twotier.core.qos import SCAVENGER
from nova_twotier.core.queue import Queue
from nova_twotier.core.reasons import Reason, waits
from nova_twotier.core.slots import THRESHOLD

NOTHING: Mapping[int, int] = MappingProxyType({})
#: The runs that stand for the servers of a tier that are no job's, by number: they never end.
UNMANAGED = {FG: -1, BG: -2}
#: A position before that of any job.
FIRST = (-math.inf, 0)


class OutOfSlots(ValueError):
    """The cluster has no room for a placement."""


@dataclass(frozen=True, slots=True)
class Host:
    """A compute host with L `slots` of K `tiers`; it takes new VMs while `enabled`.

    From the time `closes` on, in seconds, it is planned to take none: see `core.windows`. Minus
    infinity if it has left the pool for good.
    """

    name: str
    slots: int
    tiers: int = 2
    enabled: bool = True
    closes: float = math.inf

    def __reduce__(self) -> tuple[type["Host"], tuple[object, ...]]:
        # Pickled by its values: see `Job.__reduce__`.
        return Host, (self.name, self.slots, self.tiers, self.enabled, self.closes)


class Run(NamedTuple):
    """A job on its slots: `hosts[i]` is the index of the host of process i.

    A `pinned` run is just starting or leaving: no policy moves or evicts it.
    `until` is its estimated end, see `Job.expected`; infinite if that is not known.
    """

    job: Job
    tier: Tier
    hosts: tuple[int, ...]
    pinned: bool = False
    until: float = math.inf


_STAYING = frozenset(UNMANAGED.values())
#: Makes a run from a tuple of its fields, in two thirds of the time.
make_run = partial(tuple.__new__, Run)


def _stays(run: Run) -> bool:
    """Whether a run stands for servers that are no job's, and so never ends."""
    return run.pinned and run.job.number in _STAYING


class Cluster:
    """Hosts and the jobs on them, in the order of their arrival.

    What is not overridden holds for hosts that take new VMs and close no slot. Subclasses have to
    override what raises NotImplementedError. This is no ABC: compiled by mypyc, all classes below
    an ABC share one cache of what isinstance found, and it mistakes them for each other.

    :param hosts: in the order that breaks ties.
    :param threshold: foreground CPU utilisation from which on a slot is closed to the background.
    :param rng: if given, places beside other VMs are drawn from it instead of ranked (no CPU
        usage is known; JSS 2015, section 4.3.1).
    """

    #: Whether jobs with bandwidth are embedded, so that counts of slots do not say if they fit.
    embeds: ClassVar[bool] = False

    def __init__(
        self,
        hosts: Sequence[Host],
        threshold: float = THRESHOLD,
        rng: random.Random | None = None,
    ):
        self.hosts = tuple(hosts)
        self.threshold = threshold
        self.rng = rng
        self.runs: dict[int, Run] = {}
        #: The runs of a tier, and their jobs' positions, by arrival.
        self._running: dict[Tier, list[Run]] = {tier: [] for tier in Tier}
        self._orders: dict[Tier, list[Order]] = {tier: [] for tier in Tier}
        self._ends: list[tuple[float, int, int]] = []
        #: See `promotable`; None until it is asked for.
        self._promotable: Queue | None = None
        #: Free places by tier.
        self.idle: dict[Tier, int] = {}

    def copy(self) -> "Cluster":
        """An independent copy; hosts and runs are values and shared."""
        raise NotImplementedError

    def _copy_runs(self, twin: "Cluster") -> None:
        twin.hosts, twin.threshold = self.hosts, self.threshold
        if self.rng:
            twin.rng = random.Random()  # noqa: S311
            twin.rng.setstate(self.rng.getstate())
        twin.runs = dict(self.runs)
        twin._running = {tier: list(runs) for tier, runs in self._running.items()}
        twin._orders = {tier: list(orders) for tier, orders in self._orders.items()}
        twin._ends = list(self._ends)
        twin._promotable = None if self._promotable is None else self._promotable.copy()
        twin.idle = dict(self.idle)

    def uses(self, tier: Tier) -> bool:
        """Whether anything runs in the tier."""
        return bool(self._running[tier])

    def running(self, tier: Tier) -> list[Run]:
        """The runs of a tier in the order of their jobs' arrival."""
        return self._running[tier].copy()

    def walk(self, tier: Tier) -> Iterator[Run]:
        """Like `running`, as an iterator; the cluster must not change meanwhile."""
        return iter(self._running[tier])

    def on(self, tier: Tier, hosts: Collection[int]) -> dict[int, list[Run]]:
        """The runs with a process in this tier of each of these hosts, in the order of their jobs'
        arrival."""
        found: dict[int, list[Run]] = {host: [] for host in hosts}
        wanted = set(hosts)
        for run in self.walk(tier):
            for host in wanted.intersection(run.hosts):
                found[host].append(run)
        return found

    @property
    def ends(self) -> Sequence[tuple[float, int, int]]:
        """Of each foreground job with a known end, by this end: the end, the number, and how many
        slots become idle then.

        This is the job's size, less the slots that no new job can use.
        """
        return self._ends

    def endless(self) -> int:
        """Slots that become idle when the foreground jobs without a known end have ended."""
        return sum([run.job.size for run in self._without_end()])

    def _without_end(self) -> list[Run]:
        """The runs of the foreground jobs without a known end."""
        running = self._running[FG]
        if len(self._ends) == len(running):
            return []
        return [run for run in running if run.until == math.inf and not _stays(run)]

    def evictable(self, after: Order = FIRST) -> list[Run]:
        """The foreground runs that a policy may evict, in the order of their jobs' arrival.

        How many slots they free: see `straddling`.

        :param after: only those of jobs that arrived after this position.
        """
        later = self._running[FG][bisect_right(self._orders[FG], after) :]
        return [run for run in later if not run.pinned]

    def settling(self, numbers: Container[int], after: Order) -> list[Run]:
        """Like `evictable`, those of the given jobs that no policy may evict yet."""
        later = self._running[FG][bisect_right(self._orders[FG], after) :]
        return [run for run in later if run.pinned and run.job.number in numbers]

    def cleared(self, numbers: Container[int], job: Job) -> "Cluster | None":
        """A copy without the later jobs that a job may evict now, or once they are not `settling`.

        :returns: None if no later job is settling, or if it would have too few slots even then.
        """
        settling = self.settling(numbers, job.order)
        if not settling:
            return None
        leaving = [*self.evictable(job.order), *settling]
        if job.size > self.idle[FG] + sum([run.job.size for run in leaving]):
            return None
        trial = self.copy()
        for run in leaving:
            trial.remove(run.job)
        return trial

    @property
    def promotable(self) -> Queue:
        """The background jobs that a policy may promote to the foreground, as a read-only queue.

        It follows the changes of this cluster.
        """
        if self._promotable is None:
            runs = self._running[BG]
            self._promotable = Queue(
                run.job for run in runs if run.job.foreground and not run.pinned
            )
        return self._promotable

    @property
    def has_scavengers(self) -> bool:
        """Whether a scavenger runs: these are the last in the background."""
        running = self._running[BG]
        return running[-1].job.qos is SCAVENGER if running else False

    def scavengers(self) -> list[Run]:
        """The runs of scavengers that a policy may evict, in the order of their jobs' arrival.

        How many places they free: see `straddling`.
        """
        found: list[Run] = []
        for run in reversed(self._running[BG]):
            if run.job.qos is not SCAVENGER:
                break
            if self.frees_background(run):
                found.append(run)
        found.reverse()
        return found

    def frees_background(self, run: Run) -> bool:
        """Whether a policy may evict the run, and all its background places on hosts that take new
        VMs would become idle, one at least."""
        return not run.pinned

    def straddling(self, tier: Tier) -> Mapping[int, int]:
        """The runs of a tier with processes on hosts that take new VMs and on others.

        How many are on hosts that do, by job number: only these places can become idle.
        """
        return NOTHING

    def overfull(self, host: int) -> int:
        """Background processes that have to leave because their slot is closed."""
        return 0

    def overdue(self) -> list[int]:
        """Hosts with background processes that have to leave."""
        return []

    def room(self, tier: Tier, host: int) -> int:
        """Free places of the host in this tier; never negative."""
        raise NotImplementedError

    def left(self, tier: Tier, host: int) -> int:
        """Free places for processes that are on the host already, even if it takes no new VMs."""
        return self.room(tier, host)

    def takes(self, tier: Tier, hosts: Sequence[int]) -> bool:
        """Whether each of these hosts has room for a process, as often as it is named."""
        return all(self.room(tier, host) >= count for host, count in Counter(hosts).items())

    def holds(self, tier: Tier, hosts: Sequence[int]) -> bool:
        """Whether a job that is on these hosts can stay there in another tier."""
        return self.takes(tier, hosts)

    def keep(self, tier: Tier, hosts: Sequence[int], promised: dict[int, int]) -> list[bool]:
        """For each process on these hosts, whether there is room besides the promised places.

        :param promised: places by host; the places found are added.
        """
        staying = []
        for host in hosts:
            taken = promised.get(host, 0)
            stays = taken < self.room(tier, host)
            staying.append(stays)
            promised[host] = taken + stays
        return staying

    def rank(self, tier: Tier, count: int, promised: Mapping[int, int] = NOTHING) -> list[int]:
        """The `count` best free places of a tier, as host indices: the least loaded first.

        :param promised: places by host that are not to be given away.
        :raises OutOfSlots: if fewer are free.
        """
        raise NotImplementedError

    def fits(self, job: Job, tier: Tier) -> bool:
        return job.size <= self.idle[tier]

    def carries(self, job: Job, tier: Tier, hosts: Sequence[int]) -> bool:
        """Whether the links have enough bandwidth left for a job on these hosts."""
        return True

    def need(self, job: Job, tier: Tier = FG) -> Reason:
        """What a waiting job lacks in a tier."""
        if tier is BG:
            return waits.BACKGROUND_SLOTS(size=job.size, open=self.idle[BG])
        return waits.SLOTS(size=job.size, idle=self.idle[FG])

    def start(
        self,
        job: Job,
        tier: Tier,
        hosts: Sequence[int] | None = None,
        until: float = math.inf,
    ) -> Run:
        """Put a job on `hosts`, or on the best places of the tier.

        :raises OutOfSlots: if the job is on the cluster already, or has no room there.
        """
        if job.number in self.runs:
            raise OutOfSlots(f"{job.label} already runs in {self.runs[job.number].tier}")
        if hosts is None:
            hosts = job.hand_out(self.rank(tier, job.size))
        elif not self.takes(tier, hosts):
            raise OutOfSlots(f"{job.label} has no room in {tier} on the hosts chosen for it")
        run = make_run((job, tier, tuple(hosts), False, until))
        self.adopt(run)
        return run

    def adopt(self, run: Run) -> None:
        """Add an observed run, even if there is no room."""
        self._enlist(run)
        self._occupy(run)

    def remove(self, job: Job) -> Run:
        """Take a job off its slots.

        :raises KeyError: if it does not run.
        """
        run = self._delist(job.number)
        self._vacate(run)
        return run

    def show_anew(self, job: Job, until: float) -> None:
        """Replace the policy's view of a running job, which keeps its slots.

        :param job: with the same number, size and utilisations; it may have another order.
        :raises KeyError: if it does not run.
        """
        self._enlist(self._delist(job.number)._replace(job=job, until=until))

    def apply(self, actions: Iterable[Action]) -> None:
        """Apply a policy's actions, on the places that they name; they name no ends.

        :raises OutOfSlots: if the decision does not fit this cluster.
        """
        actions = list(actions)
        for action in actions:
            if not isinstance(action, Start):
                self.remove(action.job)
        for action in actions:
            if isinstance(action, Move):
                self._move(action)
            elif isinstance(action, Start):
                self.start(action.job, action.tier, action.hosts)

    def _move(self, move: Move) -> None:
        """Put a job that was removed on its slots of the other tier."""
        if move.before == move.after and self.holds(move.tier, move.after):
            self.adopt(make_run((move.job, move.tier, move.after, False, math.inf)))
        else:
            self.start(move.job, move.tier, move.after)

    def _enlist(self, run: Run) -> None:
        job, tier, _hosts, pinned, until = run
        number, order = job.number, job.order
        self.runs[number] = run
        orders, running = self._orders[tier], self._running[tier]
        if orders and order < orders[-1]:
            index = bisect_left(orders, order)
            orders.insert(index, order)
            running.insert(index, run)
        else:
            orders.append(order)
            running.append(run)
        if tier is FG:
            if until < math.inf:
                insort(self._ends, (until, number, job.size))
        elif self._promotable is not None and job.foreground and not pinned:
            self._promotable.add(job)

    def _delist(self, number: Number) -> Run:
        run = self.runs.pop(number)
        job, tier, _hosts, pinned, until = run
        orders = self._orders[tier]
        index = bisect_left(orders, job.order)
        del orders[index], self._running[tier][index]
        if tier is FG:
            if until < math.inf:
                del self._ends[bisect_left(self._ends, (until, number, job.size))]
        elif self._promotable is not None and job.foreground and not pinned:
            self._promotable.remove(job)
        return run

    def _occupy(self, run: Run) -> None:
        """Count the places that a run takes."""
        raise NotImplementedError

    def _vacate(self, run: Run) -> None:
        """Count the places that a run leaves."""
        raise NotImplementedError
