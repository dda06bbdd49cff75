"""Fits the jobs of a trace to the cluster: size, CPU utilisation and time of submission."""

import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nova_twotier.core.qos import NORMAL, Qos
from nova_twotier.sim.workloads.swf import Record

#: TPDS 2013, section 5.2: a process of a parallel job uses this share of a CPU.
CPU_RANGE = (0.4, 1.0)
#: A job asks for this share of the bandwidth that it could have on an empty cluster.
BANDWIDTH_RANGE = (0.5, 1.0)


@dataclass(frozen=True, slots=True)
class ReplayJob:
    """A job as it is submitted; times in trace seconds, the first submission is at 0.

    :param mbps: bandwidth of each VM, in Mbit/s.
    """

    trace_number: int
    name: str
    submit: float
    runtime: float
    estimate: float | None
    size: int
    cpu: tuple[float, ...]
    mbps: int = 0
    qos: Qos = NORMAL


def fit(
    records: Iterable[Record],
    processors: int,
    slots: int,
    *,
    prefix: str = "job",
    seed: int = 1,
    load_scale: float = 1.0,
    link_mbps: int = 0,
    classes: Mapping[int, Qos] | None = None,
) -> list[ReplayJob]:
    """Scale jobs of a machine of `processors` to a cluster of `slots` foreground slots.

    :param load_scale: submissions come this many times faster; run times stay.
    :param link_mbps: of each link of the cluster; if it is given, the jobs ask for bandwidth.
    :param classes: of service, by the number of a job's queue; jobs of other queues are normal.
    """
    jobs = []
    first = None
    classes = classes or {}
    for record in records:
        first = record.submit if first is None else first
        size = scaled_size(record.procs, processors, slots)
        jobs.append(
            ReplayJob(
                trace_number=record.number,
                name=f"{prefix}-{record.number}",
                submit=(record.submit - first) / load_scale,
                runtime=record.run,
                estimate=record.estimate if record.estimate > 0 else None,
                size=size,
                cpu=draw_cpu(size, seed, record.number),
                mbps=draw_mbps(size, seed, record.number, link_mbps) if link_mbps else 0,
                qos=classes.get(record.queue, NORMAL),
            )
        )
    return jobs


def scaled_size(procs: int, processors: int, slots: int) -> int:
    """The same share of the cluster as the job had of its machine, rounded up."""
    return math.ceil(procs * slots / processors)


def draw_cpu(size: int, seed: int, number: int) -> tuple[float, ...]:
    """CPU utilisation of each process, the same for the same seed and job, in descending order."""
    if size == 1:
        return (1.0,)
    # Not for secrets; and a string seeds the same stream in every process.
    rng = random.Random(f"{seed}/{number}")  # noqa: S311
    return tuple(sorted((round(rng.uniform(*CPU_RANGE), 2) for _ in range(size)), reverse=True))


def draw_mbps(size: int, seed: int, number: int, link_mbps: int) -> int:
    """Bandwidth of each VM, the same for the same seed and job.

    On an empty cluster every job has its bandwidth wherever its VMs are: a link carries the traffic
    of at most half of them.
    """
    rng = random.Random(f"{seed}/{number}/mbps")  # noqa: S311
    return int(rng.uniform(*BANDWIDTH_RANGE) * link_mbps / max(1, size // 2))
