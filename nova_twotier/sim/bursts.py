"""Bursts of short jobs in a workload, as of a script that submits in a loop, and what they wait."""

from dataclasses import dataclass, replace

import numpy
import pandas

from nova_twotier.sim import metrics, simulation, sweep
from nova_twotier.sim.workloads.workload import Submission, Workload

#: A burst: so many jobs, one every two seconds on average, of so many processes, for which a user
#: asks ten minutes, and which run for one to eight seconds.
JOBS, GAP, SIZE, ASKED, RUNTIME = 400, 2.0, 4, 600.0, (1.0, 8.0)

SLOWDOWN = "average_bounded_slowdown_of_bursts"
OTHERS = "average_bounded_slowdown_of_other_jobs"
LONGEST = "longest_average_wait_of_a_burst_seconds"


def added(workload: Workload, count: int, seed: int) -> Workload:
    """A workload with so many bursts more, at random times; their jobs have the highest numbers."""
    rng = numpy.random.default_rng(seed)
    begins = rng.uniform(workload.jobs[0].arrival, workload.jobs[-1].arrival, count)
    arrivals = begins[:, None] + rng.exponential(GAP, (count, JOBS)).cumsum(axis=1)
    runtimes = rng.uniform(*RUNTIME, count * JOBS)
    number = first_number(workload)
    jobs = [
        Submission(number + index, arrival, SIZE, runtime, ASKED)
        for index, (arrival, runtime) in enumerate(
            zip(arrivals.ravel().tolist(), runtimes.tolist(), strict=True)
        )
    ]
    ordered = sorted([*workload.jobs, *jobs], key=lambda job: (job.arrival, job.number))
    return replace(workload, jobs=tuple(ordered))


def first_number(workload: Workload) -> int:
    """The lowest job number in the added bursts."""
    return max(job.number for job in workload.jobs) + 1


def summarise(jobs: pandas.DataFrame, first: int) -> dict[str, float]:
    """The slowdown of the bursts' jobs and of the others, and the longest wait of a whole burst.

    :param jobs: as `metrics.per_job` gives them.
    :param first: number of the bursts' first job.
    """
    burst = jobs["job"] >= first
    waits = jobs["wait"][burst].groupby((jobs["job"][burst] - first) // JOBS).mean()
    return {
        SLOWDOWN: float(jobs["bounded_slowdown"][burst].mean()),
        OTHERS: float(jobs["bounded_slowdown"][~burst].mean()),
        LONGEST: float(waits.max()),
    }


@dataclass(frozen=True)
class BurstPoint(sweep.Point):
    """A run of a sweep with bursts, whose row also has the metrics of `summarise`.

    The bursts are the same with every seed of the scenario.
    """

    bursts: int = 0

    def row(self) -> dict:
        plain = sweep.workload_of(self)
        result = simulation.simulate(added(plain, self.bursts, 1), self.scenario)
        found = summarise(metrics.per_job(result.jobs), first_number(plain))
        return metrics.summarise(result) | self.parameters() | found
