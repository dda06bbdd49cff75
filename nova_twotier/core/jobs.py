"""A parallel job as a policy sees it."""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from nova_twotier.core.qos import NORMAL, PRECEDENCE, SCAVENGER, SHIFT, Qos

T = TypeVar("T")

#: See `Job.order`.
Order = tuple[float, int]
#: Upper bound of a job's size, so that a typo cannot exhaust memory.
MAX_SIZE = 1_000_000
#: What counts for a process whose CPU utilisation nobody knows: it closes no slot, and none of
#: several such VMs is preferred. The mean of TPDS 2013, section 5.1 (uniform from 40 to 100 %).
UNKNOWN_CPU = 0.7
#: A job shorter than this (seconds) counts as this long in the bounded slowdown.
SHORTEST = 10.0


class InvalidJob(ValueError):
    """A job that cannot be described; the message says which field and what it may be."""


@dataclass(frozen=True, slots=True)
class Job:
    """N processes that start and stop together (a gang).

    :param number: identity; also breaks ties between jobs with the same arrival.
    :param size: number of processes N, at least 1.
    :param arrival: time of submission in seconds.
    :param cpu: CPU utilisation 0..1 of each process on a dedicated slot, N of them.
    :param estimate: estimated run time in seconds, or None if unknown.
    :param name: shown to people; not an identity.
    :param mbps: bandwidth of each VM's link to the job's virtual switch, in Mbit/s (hose model).
    :param foreground: whether it may run in the foreground.
    :param background: whether it may run in the background; at least one of both must be true.
    :param walltime: run time in seconds after which it is stopped, or None if it never is.
    :param rank: its position in the queue, in seconds, where that is not its arrival; a policy's
        `Policy.admit` sets it.
    :param offset: seconds by which it is behind that position, fixed before it joins the queue; see
        `core.fair_share`.
    :param qos: its class; a scavenger may not run in the foreground.
    :raises InvalidJob: if a field is out of its range.
    """

    number: int
    size: int
    arrival: float
    cpu: tuple[float, ...]
    estimate: float | None = None
    name: str = ""
    mbps: float = 0.0
    foreground: bool = True
    background: bool = True
    walltime: float | None = None
    rank: float | None = None
    offset: float = 0.0
    qos: Qos = NORMAL
    #: The highest of the utilisations.
    hottest: float = field(init=False, compare=False, repr=False)
    #: The processes in the order in which they are dispatched, by descending utilisation; None if
    #: that is the order of their numbers.
    dispatch: tuple[int, ...] | None = field(init=False, compare=False, repr=False)
    #: The estimate as a number; infinite if unknown.
    expected: float = field(init=False, compare=False, repr=False)
    #: What policies that do not order by position sort by first; 0 for normal jobs.
    precedence: int = field(init=False, compare=False, repr=False)
    #: Position in the queue: by arrival, or by rank if the job has one, plus offset, in its class;
    #: then by number. Wherever `core` says "by arrival", "earlier" or "later" of jobs, it means
    #: this order.
    order: Order = field(init=False, compare=False, repr=False)

    def __post_init__(self):
        check_size(self.size)
        check_cpu(self.cpu, self.size)
        if self.estimate is not None and not 0 <= self.estimate < math.inf:
            raise InvalidJob(f"estimate is {self.estimate}; give a run time of 0 seconds or more")
        if not 0 <= self.mbps < math.inf:
            raise InvalidJob(f"mbps is {self.mbps}; give a bandwidth of 0 Mbit/s or more")
        if not (self.foreground or self.background):
            raise InvalidJob("the job may run in neither tier; allow it one of them")
        object.__setattr__(self, "hottest", max(self.cpu))
        object.__setattr__(self, "dispatch", _dispatch(self.cpu))
        expected = math.inf if self.estimate is None else self.estimate
        object.__setattr__(self, "expected", expected)
        rank = self.arrival if self.rank is None else self.rank
        place, precedence = rank + self.offset, 0
        if self.qos is not NORMAL:
            place += SHIFT[self.qos]
            precedence = PRECEDENCE[self.qos]
            if self.qos is SCAVENGER and self.foreground:
                raise InvalidJob("a scavenger runs in the background only; bar the foreground")
        object.__setattr__(self, "precedence", precedence)
        object.__setattr__(self, "order", (place, self.number))

    @property
    def label(self) -> str:
        return self.name or f"job {self.number}"

    @property
    def relative_deadline(self) -> float:
        """Seconds from its arrival to its position in the queue; 0 where that is its arrival."""
        return self.order[0] - self.arrival

    def hand_out(self, places: Sequence[T]) -> Sequence[T]:
        """The places of the processes, by their numbers: the hottest process gets the first place
        (TPDS 2013, section 4.2).

        :param places: N of them, the best first; empty if the cluster only counts them.
        """
        if self.dispatch is None or not places:
            return places
        handed = list(places)
        for process, place in zip(self.dispatch, places, strict=True):
            handed[process] = place
        return handed


def _dispatch(cpu: Sequence[float]) -> tuple[int, ...] | None:
    if all(map(operator.ge, cpu, islice(cpu, 1, None))):
        return None
    # Stable: equal processes keep their order.
    return tuple(sorted(range(len(cpu)), key=cpu.__getitem__, reverse=True))


def job_label(number: int | str, name: str = "") -> str:
    """A job for people, after the word "job": `12 (solver)`, or `12` if it has no name."""
    return f"{number} ({name})" if name else str(number)


def server_name(number: int, process: int) -> str:
    """The name of the server of a job's process; processes are counted from 0, servers from 1."""
    return f"tt-{number}-{process + 1}"


def check_size(size: int) -> None:
    """:raises InvalidJob: unless `size` is a whole number of at least 1."""
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise InvalidJob(f"size is {size!r}; a job needs a whole number of processes, at least 1")
    if size > MAX_SIZE:
        raise InvalidJob(f"size is {size}; a job has at most {MAX_SIZE} processes")


def check_cpu(cpu: Sequence[float], size: int) -> None:
    """:raises InvalidJob: unless `cpu` has one utilisation in 0..1 for each of `size` processes."""
    if len(cpu) != size:
        raise InvalidJob(f"cpu has {len(cpu)} values for {size} processes; give one, or one each")
    # min and max miss a NaN that is not the first value.
    if not (min(cpu) >= 0 and max(cpu) <= 1 and sum(cpu) >= 0):
        wrong = next(value for value in cpu if not 0 <= value <= 1)
        raise InvalidJob(f"cpu is {wrong}; give the share of a CPU a process uses, 0 to 1")
