"""The metrics of a run: waits, slowdowns, preemptions, utilisation.

The definitions are those of TPDS 2013 (5.2) and JSS 2015 (4.1).
"""

import math

import pandas

from nova_twotier.core.jobs import SHORTEST
from nova_twotier.sim import classes

#: Quantities of a job, with the unit that ends the name of their columns in a summary.
QUANTITIES = {"wait": "_seconds", "response": "_seconds", "slowdown": "", "bounded_slowdown": ""}
#: What a summary says first of what was run.
ABOUT = ("policy", "workload", "nodes", "load", "seed", "jobs", "rejected")
STATISTICS = ("average", "maximum", "p50", "p90", "p99")
COUNTS = ("migrations", "evictions", "kills", "swaps")


def per_job(jobs: pandas.DataFrame) -> pandas.DataFrame:
    """The jobs with `response`, `wait` (seconds), `slowdown` and `bounded_slowdown`.

    A job of runtime 0 has no slowdown: it is NaN, which averages and percentiles leave out. The
    bounded slowdown is `response / max(10 s, runtime)` and, as in the papers, below 1 for a job
    that is shorter than 10 s and waits little.
    """
    response = jobs["finish"] - jobs["arrival"]
    runtime = jobs["runtime"]
    return jobs.assign(
        response=response,
        wait=response - runtime,
        slowdown=response / runtime.where(runtime > 0),
        bounded_slowdown=response / runtime.clip(lower=SHORTEST),
    )


def offered_load(jobs: pandas.DataFrame, nodes: int) -> float:
    """Work that arrives as a fraction of what `nodes` slots can do from first to last arrival."""
    span = jobs["arrival"].max() - jobs["arrival"].min()
    return _share((jobs["size"] * jobs["runtime"]).sum(), span * nodes)


def summarise(result) -> dict:
    """One flat row about a run; metrics without a value (no job, no time) are NaN.

    Rejected jobs are counted, but do not enter any other metric, nor the load. `utilisation` is the
    fraction of busy CPU cycles from first arrival to last finish (TPDS 5.2), where a background
    process has the progress model's floor at least; `allocation_share` is the fraction of slots
    that the jobs' work would fill if nothing slowed it down. `accept_rate` is the fraction of the
    jobs that were not rejected, `accept_rate_one_host` of those that fit on one host. With classes
    of service, what `classes.summarise` says of each follows.
    """
    jobs = per_job(result.jobs)
    capacity = result.span * result.nodes
    row = {
        "policy": result.scenario.policy,
        "workload": result.workload,
        "nodes": int(result.nodes),
        "load": offered_load(jobs, result.nodes),
        "seed": int(result.scenario.seed),
        "jobs": len(jobs),
        "rejected": len(result.rejected),
    }
    for quantity, unit in QUANTITIES.items():
        for statistic in STATISTICS:
            row[f"{statistic}_{quantity}{unit}"] = _statistic(jobs[quantity], statistic)
    for count in COUNTS:
        row[f"{count}_per_job"] = float(jobs[count].mean())
    row["utilisation"] = _share(result.busy, capacity)
    row["allocation_share"] = _share((jobs["size"] * jobs["runtime"]).sum(), capacity)
    row["makespan_seconds"] = float(result.span)
    row["accept_rate"] = _share(len(jobs), len(jobs) + len(result.rejected))
    slots = result.scenario.slots
    small, refused = (int((each["size"] <= slots).sum()) for each in (jobs, result.rejected))
    row["accept_rate_one_host"] = _share(small, small + refused)
    if result.scenario.qos is not None:
        row |= classes.summarise(jobs)
    return row


def columns(qos: str | None) -> list[str]:
    """The columns of a summary.

    :param qos: as of `Scenario`.
    """
    return [*ABOUT, *names(), *(classes.names() if qos is not None else ())]


def names() -> list[str]:
    """The columns of a summary that are measurements."""
    return [
        *(f"{stat}_{name}{unit}" for name, unit in QUANTITIES.items() for stat in STATISTICS),
        *(f"{count}_per_job" for count in COUNTS),
        "utilisation",
        "allocation_share",
        "makespan_seconds",
        "accept_rate",
        "accept_rate_one_host",
    ]


def _statistic(values: pandas.Series, name: str) -> float:
    if name == "average":
        return float(values.mean())
    if name == "maximum":
        return float(values.max())
    return float(values.quantile(int(name.removeprefix("p")) / 100))


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else math.nan
