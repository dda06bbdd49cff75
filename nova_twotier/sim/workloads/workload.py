"""A workload: the jobs that people submit to a cluster, from a trace or from a model."""

import dataclasses
import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple, Self

from nova_twotier.core.jobs import MAX_SIZE
from nova_twotier.core.qos import QUEUES, Qos
from nova_twotier.sim.workloads.swf import Record, Trace

#: Percentiles of the run time that `describe` gives.
PERCENTILES = (5, 25, 50, 75, 90, 99)
#: Upper bound of a time in seconds, 3,000 years: sums of larger ones would lose the seconds.
MOST_SECONDS = 1e11


class InvalidWorkload(ValueError):
    """A workload that cannot be; the message names the workload and the job."""


class Submission(NamedTuple):
    """A job as it is submitted: `size` processes; times in seconds.

    `user` and `group` are the numbers of its user and group in the trace; below 0 where they are
    not known. `qos` is its class, None if the header of the trace gives its queue no name of one.
    """

    number: int
    arrival: float
    size: int
    runtime: float
    estimate: float
    user: int = -1
    group: int = -1
    qos: Qos | None = None


@dataclass(frozen=True)
class Workload:
    """Jobs for a cluster of `nodes` slots, by arrival, then by number.

    A job may be larger than the cluster: whether it is refused is not for a workload to say. Its
    load is without such jobs, as nobody can run them.

    :param remarks: sentences about what was made of the jobs that a user may not expect.
    :raises InvalidWorkload: without jobs or nodes, if two jobs have the same number, or if a job
        has a size below 1 or a time that is negative or above `MOST_SECONDS`.
    """

    name: str
    nodes: int
    jobs: tuple[Submission, ...]
    remarks: tuple[str, ...] = ()

    def __post_init__(self):
        if not 1 <= self.nodes <= MAX_SIZE:
            raise InvalidWorkload(
                f"{self.name}: nodes is {self.nodes}; it must be from 1 to {MAX_SIZE}"
            )
        if not self.jobs:
            raise InvalidWorkload(f"{self.name}: trace has no jobs")
        for job in self.jobs:
            _check(job, self.name)
        if len({job.number for job in self.jobs}) < len(self.jobs):
            raise InvalidWorkload(f"{self.name}: job {_repeated(self.jobs)} is there twice")
        jobs = sorted(self.jobs, key=attrgetter("arrival", "number"))
        object.__setattr__(self, "jobs", tuple(jobs))

    @classmethod
    def of(
        cls,
        name: str,
        nodes: int,
        arrivals: Sequence[float],
        sizes: Sequence[int],
        runtimes: Sequence[float],
    ) -> Self:
        """From columns of equal length, by arrival: numbered from 1, with exact estimates."""
        columns = zip(arrivals, sizes, runtimes, runtimes, strict=True)
        return cls(name, nodes, tuple(Submission(n, *row) for n, row in enumerate(columns, 1)))

    @classmethod
    def from_swf(cls, trace: Trace, nodes: int | None = None, name: str = "trace") -> Self:
        """The usable records of a trace; without `nodes`, for the trace's own machine.

        Jobs of run time 0 stay and nothing is clipped. The estimate is the requested time, not
        less than the run time; without a request it is the run time. JSS 2015, Table 2 comes
        out so. A queue that has the name of a class stands for it. It is remarked how many records
        are left out.

        :raises InvalidWorkload: as `Workload` does.
        """
        classes = trace.classes
        jobs = tuple(
            Submission(
                record.number,
                record.submit,
                record.procs,
                record.run,
                record.estimate,
                record.user,
                record.group,
                classes.get(record.queue),
            )
            for record in trace.records
        )
        remarks = _left_out(trace.left_out)
        if not jobs:
            raise InvalidWorkload(": ".join((f"{name}: trace has no jobs", *remarks)))
        if nodes is None and trace.machine is None:
            remarks.append(
                f"its header has no number of MaxProcs or MaxNodes, so the machine has the "
                f"{trace.processors} slots of the largest job; --nodes sets others"
            )
        return cls(
            name,
            trace.processors if nodes is None else nodes,
            jobs,
            tuple(f"{name}: {each}" for each in remarks),
        )

    def to_swf(self) -> Trace:
        """A trace that `from_swf` turns into this workload (estimates are raised to run times)."""
        there = self.classes
        comments = (
            "Version: 2.2",
            f"Computer: {self.name}",
            f"MaxJobs: {len(self.jobs)}",
            f"MaxRecords: {len(self.jobs)}",
            f"MaxProcs: {self.nodes}",
            *(f"Queue: {number} {qos}" for qos, number in QUEUES.items() if qos in there),
        )
        return Trace(comments, tuple(_record(job) for job in self.jobs))

    @property
    def users(self) -> dict[int, int]:
        """The user of each job, by its number, without the jobs whose user is not known."""
        return {job.number: job.user for job in self.jobs if job.user >= 0}

    @property
    def groups(self) -> dict[int, int]:
        """The group of each job, by its number, without the jobs whose group is not known."""
        return {job.number: job.group for job in self.jobs if job.group >= 0}

    @property
    def classes(self) -> set[Qos]:
        """The classes of service of the jobs, as far as they are known."""
        return {job.qos for job in self.jobs if job.qos is not None}

    @property
    def span(self) -> float:
        """Seconds from the first arrival to the last."""
        return self.jobs[-1].arrival - self.jobs[0].arrival

    @property
    def load(self) -> float:
        """Offered load: work that arrives as a fraction of what the nodes can do meanwhile.

        Sum of size * runtime / (nodes * span) of the jobs that fit the nodes, the span being from
        the first arrival of those to the last; NaN if all of them arrive at once. Jobs that a
        network rejects count.
        """
        jobs = [job for job in self.jobs if job.size <= self.nodes]
        span = jobs[-1].arrival - jobs[0].arrival if jobs else 0
        work = math.fsum(job.size * job.runtime for job in jobs)
        return work / (self.nodes * span) if span > 0 else math.nan

    def scaled(self, load: float) -> Self:
        """The same jobs, with the times between arrivals scaled so that `load` becomes this load.

        :raises InvalidWorkload: if no scale gives that load.
        """
        if not 0 < load < math.inf:
            raise InvalidWorkload(f"{self.name}: load is {load}; it must be above 0")
        natural = self.load
        if not natural > 0:
            raise InvalidWorkload(
                f"{self.name}: cannot be scaled to a load; "
                f"the jobs of up to {self.nodes} processes arrive at once or none of them runs"
            )
        factor = natural / load
        first = self.jobs[0].arrival
        jobs = tuple(
            job._replace(arrival=first + (job.arrival - first) * factor) for job in self.jobs
        )
        return dataclasses.replace(self, jobs=jobs)

    def head(self, count: int) -> Self:
        """The first jobs, `count` of them or as many as there are.

        :raises InvalidWorkload: if `count` is below 1.
        """
        if count < 1:
            raise InvalidWorkload(f"{self.name}: {count} jobs are no workload; take 1 or more")
        return dataclasses.replace(self, jobs=self.jobs[:count])


def describe(workload: Workload) -> dict[str, float]:
    """Statistics to know a workload by; what has no value is NaN.

    A CV is the standard deviation / mean. `power_of_two_fraction` does not count jobs of one
    process; `below_20_fraction` is of jobs with fewer than 20 processes, which the papers quote.
    """
    jobs = workload.jobs
    sizes = [job.size for job in jobs]
    runtimes = sorted(job.runtime for job in jobs)
    gaps = [later.arrival - job.arrival for job, later in itertools.pairwise(jobs)]
    estimates = [job.estimate for job in jobs]
    return {
        "jobs": len(jobs),
        "nodes": workload.nodes,
        "load": workload.load,
        "serial_fraction": _fraction(size == 1 for size in sizes),
        "power_of_two_fraction": _fraction(size > 1 and not size & (size - 1) for size in sizes),
        "below_20_fraction": _fraction(size < 20 for size in sizes),
        "average_size": statistics.fmean(sizes),
        "maximum_size": max(sizes),
        "average_runtime_seconds": statistics.fmean(runtimes),
        "runtime_cv": _cv(runtimes),
        **{
            f"p{percent}_runtime_seconds": _percentile(runtimes, percent) for percent in PERCENTILES
        },
        "maximum_runtime_seconds": runtimes[-1],
        "average_interarrival_seconds": statistics.fmean(gaps) if gaps else math.nan,
        "interarrival_cv": _cv(gaps),
        "size_runtime_correlation": _correlation(sizes, [job.runtime for job in jobs]),
        "average_estimate_seconds": statistics.fmean(estimates),
        "distinct_estimates": len(set(estimates)),
    }


def _left_out(count: int) -> list[str]:
    """Remarks on how many records of a trace are left out, and why; none if all are jobs."""
    records = "1 record" if count == 1 else f"{count:,} records"
    why = "without a run time (field 4) or processors (5 and 8)"
    return [f"left out {records} {why}"] if count else []


def _check(job: Submission, name: str) -> None:
    if not isinstance(job.size, int) or not 1 <= job.size <= MAX_SIZE:
        raise InvalidWorkload(
            f"{name}: job {job.number} has size {job.size}; it must be 1 to {MAX_SIZE} processes"
        )
    # One comparison a time: a NaN is not between two numbers.
    most = MOST_SECONDS
    if 0 <= job.arrival <= most and 0 <= job.runtime <= most and 0 <= job.estimate <= most:
        return
    times = {"arrival": job.arrival, "runtime": job.runtime, "estimate": job.estimate}
    wrong = next(field for field, value in times.items() if not 0 <= value <= most)
    raise InvalidWorkload(
        f"{name}: job {job.number} has {wrong} {times[wrong]}; it must be 0 to {most:g} seconds"
    )


def _repeated(jobs: Iterable[Submission]) -> int:
    seen = set()
    return next(job.number for job in jobs if job.number in seen or seen.add(job.number))


def _record(job: Submission) -> Record:
    return Record(
        number=job.number,
        submit=job.arrival,
        wait=-1,
        run=job.runtime,
        allocated=job.size,
        cpu_time=-1,
        memory=-1,
        requested=job.size,
        requested_time=job.estimate,
        requested_memory=-1,
        status=1,
        user=job.user,
        group=job.group,
        executable=-1,
        queue=-1 if job.qos is None else QUEUES[job.qos],
        partition=-1,
        preceding=-1,
        think_time=-1,
    )


def _fraction(truths: Iterable[bool]) -> float:
    return statistics.fmean(map(float, truths))


def _cv(values: Sequence[float]) -> float:
    mean = statistics.fmean(values) if values else 0
    if mean == 0:
        return math.nan
    return math.sqrt(statistics.fmean((value - mean) ** 2 for value in values)) / mean


def _percentile(ascending: Sequence[float], percent: int) -> float:
    """The least value that at least `percent` of all do not exceed."""
    return ascending[max(0, math.ceil(len(ascending) * percent / 100) - 1)]


def _correlation(xs: Sequence[float], ys: Sequence[float]) -> float:
    if min(xs) == max(xs) or min(ys) == max(ys):
        return math.nan
    return statistics.correlation(xs, ys)
