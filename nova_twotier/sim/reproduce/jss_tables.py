"""JSS 2015, Tables 1 and 2: four traces of the archive."""

import bisect
import statistics
from dataclasses import replace

from nova_twotier.sim import sweep
from nova_twotier.sim.reproduce import archive, published
from nova_twotier.sim.reproduce.claims import Claim
from nova_twotier.sim.reproduce.experiment import Experiment, Run, Settings
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
from nova_twotier.sim.simulation import Scenario
from nova_twotier.sim.workloads import catalogue
from nova_twotier.sim.workloads.utilisation import Utilisation

#: "Comparable": in Table 2, ACFCFS has up to 1.37 times EASY's average bounded slowdown.
COMPARABLE = 1.4
#: Percentage points in which an improvement is the printed one.
WITHIN = 3.0
#: "Significant", per cent: in Table 2, ACFCFS's average wait is at least so much below ACFCFSUN's.
SIGNIFICANT = 14.4

SDSC = "The paper ran version 4.1-cln of SDSC, which has ten more jobs at its start than 4.2-cln."

#: Upper ends of Table 1's ranges of sizes; above the last is the last range.
_ENDS = (1, 2, 4, 8, 16, 32, 64, 128)

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


def short_shares(path, head: int | None = None) -> list[float]:
    """Per cent of a trace's short jobs that have each size of Table 1."""
    workload = catalogue.load(str(path))
    jobs = (workload if head is None else workload.head(head)).jobs
    mean = statistics.fmean(job.runtime for job in jobs)
    counts = [0] * len(published.TABLE1_SIZES)
    for job in jobs:
        if job.runtime < mean:
            counts[bisect.bisect_left(_ENDS, job.size)] += 1
    # The shortest job is below the mean, unless all are alike.
    total = sum(counts) or 1
    return [100 * count / total for count in counts]


def _table1(_results: Results, settings: Settings) -> list[Number]:
    paths = archive.find(settings.traces)
    numbers = []
    for trace, printed in published.TABLE1.items():
        shares = short_shares(paths[trace], settings.head)
        for size, paper, ours in zip(published.TABLE1_SIZES, printed, shares, strict=True):
            numbers.append(Number.of("share of short jobs (%)", trace, size, paper, [ours]))
    return numbers


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
