"""A parallel job as a policy sees it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from nova_twotier.core.qos import NORMAL, PRECEDENCE, SCAVENGER, SHIFT, Qos

T = TypeVar("T")

#: A job's number. Compiled code unpacks an `int` from its object, and makes another for each look
#: into a dict; with `Any` it keeps the object, and mypy still checks that it is used as an int.
Number: TypeAlias = int | Any
#: See `Job.order`: seconds and a number. Compiled code would unpack a `tuple[float, int]`, too, and
#: make another whenever it compares or stores it.
Order: TypeAlias = tuple[Any, ...]
#: Upper bound of a job's size, so that a typo cannot exhaust memory.
MAX_SIZE = 1_000_000
#: Nova's own limit of a server's user data, in characters of base64.
MAX_USER_DATA = 65_535
#: What counts for a process whose CPU utilisation nobody knows: it closes no slot, and none of
#: several such VMs is preferred. The mean of TPDS 2013, section 5.1 (uniform from 40 to 100 %).
UNKNOWN_CPU = 0.7
#: A job shorter than this (seconds) counts as this long in the bounded slowdown.
SHORTEST = 10.0


class InvalidJob(ValueError):
    """A job that cannot be described; the message says which field and what it may be."""


@dataclass(init=False, slots=True, unsafe_hash=True)
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
    No attribute may be changed: `dataclasses.replace` makes another job. Those that follow from
    others cannot be `Final`, since mypy takes `field()` for their value.

    :raises InvalidJob: if a field is out of its range.
    """

    number: Final[Number]
    size: Final[int]
    arrival: Final[float]
    cpu: Final[tuple[float, ...]]
    estimate: Final[float | None]
    name: Final[str]
    mbps: Final[float]
    foreground: Final[bool]
    background: Final[bool]
    walltime: Final[float | None]
    rank: Final[float | None]
    offset: Final[float]
    qos: Final[Qos]
    #: The highest of the utilisations.
    hottest: float = field(init=False, compare=False, repr=False)
    #: The processes in the order in which they are dispatched, by descending utilisation; None if
    #: that is the order of their numbers.
    dispatch: tuple[int, ...] | None = field(init=False, compare=False, repr=False)
    #: What policies and this package mean by its estimate: the one that is given, but at most the
    #: walltime, which is enforced; infinite if it has neither.
    expected: float = field(init=False, compare=False, repr=False)
    #: What policies that do not order by position sort by first; 0 for normal jobs.
    precedence: int = field(init=False, compare=False, repr=False)
    #: Position in the queue: by arrival, or by rank if the job has one, plus offset, in its class;
    #: then by number. Wherever `core` says "by arrival", "earlier" or "later" of jobs, it means
    #: this order.
    order: Order = field(init=False, compare=False, repr=False)

    # A frozen dataclass would take twice as long to make.
    def __init__(
        self,
        number: int,
        size: int,
        arrival: float,
        cpu: tuple[float, ...],
        estimate: float | None = None,
        name: str = "",
        mbps: float = 0.0,
        foreground: bool = True,
        background: bool = True,
        walltime: float | None = None,
        rank: float | None = None,
        offset: float = 0.0,
        qos: Qos = NORMAL,
    ):
        check_size(size)
        dispatch = _dispatch(cpu)
        # Where they descend, as most often, the first and the last say as much as all of them.
        if len(cpu) != size or dispatch is not None or not (cpu[-1] >= 0 and cpu[0] <= 1):
            check_cpu(cpu, size)
        if estimate is not None and not 0 <= estimate < math.inf:
            raise InvalidJob(f"estimate is {estimate}; give a run time of 0 seconds or more")
        if not 0 <= mbps < math.inf:
            raise InvalidJob(f"mbps is {mbps}; give a bandwidth of 0 Mbit/s or more")
        if not (foreground or background):
            raise InvalidJob("the job may run in neither tier; allow it one of them")
        self.number = number
        self.size = size
        self.arrival = arrival
        self.cpu = cpu
        self.estimate = estimate
        self.name = name
        self.mbps = mbps
        self.foreground = foreground
        self.background = background
        self.walltime = walltime
        self.rank = rank
        self.offset = offset
        self.qos = qos
        self.hottest = cpu[0] if dispatch is None else max(cpu)
        self.dispatch = dispatch
        expected = math.inf if estimate is None else estimate
        self.expected = expected if walltime is None else min(expected, walltime)
        place, precedence = (arrival if rank is None else rank) + offset, 0
        if qos is not NORMAL:
            place += SHIFT[qos]
            precedence = PRECEDENCE[qos]
            if qos is SCAVENGER and foreground:
                raise InvalidJob("a scavenger runs in the background only; bar the foreground")
        self.precedence = precedence
        self.order = place, number

    def __reduce__(self) -> tuple[type["Job"], tuple[object, ...]]:
        # Pickled by its values: Python would make an object without calling __init__, and compiled
        # classes do not allow that.
        return Job, (
            *(self.number, self.size, self.arrival, self.cpu, self.estimate, self.name, self.mbps),
            *(self.foreground, self.background, self.walltime, self.rank, self.offset, self.qos),
        )

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


def _dispatch(cpu: tuple[float, ...]) -> tuple[int, ...] | None:
    if _descends(cpu):
        return None
    # Stable: equal processes keep their order.
    return tuple(sorted(range(len(cpu)), key=cpu.__getitem__, reverse=True))


def _descends(values: tuple[float, ...]) -> bool:
    before = math.inf
    for value in values:
        if not value <= before:  # a NaN is not
            return False
        before = value
    return True


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
