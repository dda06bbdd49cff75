"""JSS 2015, Tables 1 and 2: four traces of the archive."""

import bisect
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy

from nova_twotier.sim import sweep
from nova_twotier.sim.reproduce import archive, published
from nova_twotier.sim.reproduce.claims import Claim
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings, Table
from nova_twotier.sim.reproduce.measures import (
    AVERAGES,
    EXTREMES,
    at_most_times,
    better,
    improvement,
    more_improved,
)
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads import catalogue
from nova_twotier.sim.workloads.utilisation import Utilisation
from nova_twotier.sim.workloads.workload import Submission

#: "Comparable": in Table 2, ACFCFS has up to 1.37 times EASY's average bounded slowdown.
COMPARABLE = 1.4
#: Percentage points in which an improvement is the printed one.
WITHIN = 3.0
#: "Significant", per cent: in Table 2, ACFCFS's average wait is at least so much below ACFCFSUN's.
SIGNIFICANT = 14.4

SDSC = "The paper ran version 4.1-cln of SDSC, which has ten more jobs at its start than 4.2-cln."

#: Upper ends of Table 1's ranges of sizes; above the last is the last range.
_ENDS = (1, 2, 4, 8, 16, 32, 64, 128)

Length = Callable[[Submission], float]
Limit = Callable[[Sequence[float]], float]


def _run_time(job: Submission) -> float:
    return job.runtime


def _work(job: Submission) -> float:
    return job.runtime * job.size


#: What "short" may mean. The paper: "when its runtime is less than the average runtime".
_SHORTNESS: dict[str, tuple[Length, Limit]] = {
    "shorter than the mean": (_run_time, statistics.fmean),
    "shorter than the median": (_run_time, statistics.median),
    "of less work than the mean": (_work, statistics.fmean),
}

_SCENARIOS = {
    "CCFCFS": Scenario("ccfcfs", progress="jss"),
    "ACFCFS": Scenario("acfcfs", progress="jss"),
    "ACFCFSUN": Scenario("acfcfs", progress="jss", utilisation=Utilisation(error=None)),
    "ACFCFS100": Scenario("acfcfs", progress="jss", utilisation=Utilisation(1.0, 1.0)),
    "EASY": Scenario("easy", progress="jss"),
    "FCFS": Scenario("fcfs", progress="jss"),
}
#: Columns in which nothing is drawn at random: their one run stands for all seeds.
_CERTAIN = ("FCFS", "EASY", "ACFCFS100")

#: A column of our results for each group of Table 2, and what makes its unit the paper's.
_METRICS = {
    "average wait (min)": ("average_wait_seconds", 60),
    "maximum wait (min)": ("maximum_wait_seconds", 60),
    "average bounded slowdown": ("average_bounded_slowdown", 1),
    "maximum bounded slowdown": ("maximum_bounded_slowdown", 1),
}


def short_shares(
    jobs: Sequence[Submission], length: Length = _run_time, limit: Limit = statistics.fmean
) -> list[float]:
    """Per cent of the short jobs that have each size of Table 1.

    :param length: what a job is short by.
    :param limit: of the lengths of all jobs, the one that short jobs are below.
    """
    longest = limit([length(job) for job in jobs])
    counts = [0] * len(published.TABLE1_SIZES)
    for job in jobs:
        if length(job) < longest:
            counts[bisect.bisect_left(_ENDS, job.size)] += 1
    # The shortest job is below the mean, unless all are alike.
    total = sum(counts) or 1
    return [100 * count / total for count in counts]


def nearest_limit(jobs: Sequence[Submission], printed: Sequence[float]) -> float:
    """How far the shares are from the printed ones with the limit that suits these best.

    :returns: the largest difference of any size, in percentage points.
    """
    jobs = sorted(jobs, key=_run_time)
    sizes = numpy.array([bisect.bisect_left(_ENDS, job.size) for job in jobs])
    counts = (sizes[:, None] == numpy.arange(len(printed))).cumsum(axis=0)
    shares = 100 * counts / counts.sum(axis=1, keepdims=True)
    # A limit has all jobs of a run time below it, or none.
    times = numpy.array([job.runtime for job in jobs])
    ends = numpy.append(times[1:] > times[:-1], True)
    return float(abs(shares[ends] - numpy.array(printed)).max(axis=1).min())


def _jobs(path, settings: Settings) -> Sequence[Submission]:
    workload = catalogue.load(str(path))
    return (workload if settings.head is None else workload.head(settings.head)).jobs


def _table1(_results: Results, settings: Settings) -> list[Number]:
    paths = archive.find(settings.traces)
    numbers = []
    for trace, printed in published.TABLE1.items():
        shares = short_shares(_jobs(paths[trace], settings))
        for size, paper, ours in zip(published.TABLE1_SIZES, printed, shares, strict=True):
            numbers.append(Number.of("share of short jobs (%)", trace, size, paper, [ours]))
    return numbers


def _table1_tables(_results: Results, settings: Settings) -> Iterator[Table]:
    paths = archive.find(settings.traces)
    rows = {}
    for trace, printed in published.TABLE1.items():
        jobs = _jobs(paths[trace], settings)
        found = [short_shares(jobs, length, limit) for length, limit in _SHORTNESS.values()]
        furthest = [
            max(abs(ours - paper) for ours, paper in zip(shares, printed, strict=True))
            for shares in found
        ]
        rows[trace] = [f"{each:.1f}" for each in (*furthest, nearest_limit(jobs, printed))]
    yield Table(
        "The largest deviation of any size, in points, if a job is short that is",
        (*_SHORTNESS, "shorter than whatever limit is nearest to the paper"),
        rows,
    )


def _runs(settings: Settings) -> list[Run]:
    paths = archive.find(settings.traces)
    runs = []
    for trace, (_file, nodes) in archive.TRACES.items():
        for series, scenario in _SCENARIOS.items():
            for seed in range(1 if series in _CERTAIN else settings.seeds):
                point = sweep.Point(
                    str(paths[trace].resolve()),
                    replace(scenario, seed=seed),
                    nodes=nodes,
                    head=settings.head,
                )
                runs.append(Run(series, trace, point))
    return runs


def _table2(results: Results, _settings: Settings) -> list[Number]:
    numbers = []
    for group, traces in published.TABLE2.items():
        metric, unit = _METRICS[group]
        for trace, printed in traces.items():
            for column, paper in zip(published.TABLE2_COLUMNS, printed, strict=True):
                runs = [value / unit for value in results.values(metric, trace, column)]
                numbers.append(Number.of(group, trace, column, paper, runs))
    return numbers


TABLE1 = Experiment(
    name="jss2015-table1",
    source="JSS 2015, Table 1",
    about="sizes of the short jobs of four traces",
    numbers=_table1,
    tables=_table1_tables,
    notes=("A job is short if it is shorter than the average job of its trace.", SDSC),
    points=True,
)

TABLE2 = Experiment(
    name="jss2015-table2",
    source="JSS 2015, Table 2",
    about="waits and bounded slowdowns of six policies on four traces",
    runs=_runs,
    numbers=_table2,
    claims=(
        Claim(
            "CCFCFS and ACFCFS are better than FCFS, on average and at the maximum",
            "section 4.2 (1)",
            "always",
            "at every trace and metric",
            better(("CCFCFS", "ACFCFS"), ("FCFS",), AVERAGES + EXTREMES),
        ),
        Claim(
            "ACFCFS beats CCFCFS",
            "section 4.2 (1)",
            "always",
            "in both averages at every trace",
            better(("ACFCFS",), ("CCFCFS",), AVERAGES),
        ),
        Claim(
            "ACFCFS's average bounded slowdown is comparable to EASY's",
            "section 4.2 (2)",
            1.37,
            f"nowhere more than {COMPARABLE} times EASY's; the paper's greatest ratio is 1.37",
            at_most_times(COMPARABLE, "ACFCFS", "EASY", "average_bounded_slowdown"),
            unit="times",
        ),
        Claim(
            "ACFCFS improves the bounded slowdown by more than the wait",
            "section 4.2 (4)",
            4.3,
            "more improvement over FCFS, averaged over the traces; the paper's from its columns",
            more_improved("ACFCFS", "FCFS", "average_bounded_slowdown", "average_wait_seconds"),
            unit="points",
        ),
        Claim(
            "ACFCFS outperforms FCFS even without any CPU usage information",
            "section 4.3.1",
            "always",
            "ACFCFSUN at every trace and metric",
            better(("ACFCFSUN",), ("FCFS",), AVERAGES + EXTREMES),
        ),
        Claim(
            "Knowing the CPU usage improves the performance significantly",
            "section 4.3.1",
            26.2,
            "ACFCFS's average wait below ACFCFSUN's, averaged over the traces, within "
            f"{WITHIN:g} points of the paper's, which is from its columns",
            improvement("ACFCFS", "ACFCFSUN", "average_wait_seconds", 26.2, WITHIN),
            unit="%",
        ),
        Claim(
            "Even with an average CPU usage of 100 %, ACFCFS is better than FCFS",
            "section 4.3.2",
            "always",
            "ACFCFS100 at every trace and metric",
            better(("ACFCFS100",), ("FCFS",), AVERAGES + EXTREMES),
        ),
        Claim(
            "The less CPU the processes use, the better",
            "section 4.3.2",
            "always",
            "ACFCFS better than ACFCFS100 in both averages at every trace",
            better(("ACFCFS",), ("ACFCFS100",), AVERAGES),
        ),
    ),
    notes=(
        "FCFS, EASY and ACFCFS100 draw nothing at random: they run once.",
        SDSC,
    ),
    progress="jss",
)
