"""How the waits of a run are spread over the users of its trace."""

from collections import Counter
from dataclasses import dataclass

import pandas

from nova_twotier.sim import metrics, simulation, sweep
from nova_twotier.sim.workloads.workload import Workload

#: The share of the users, those with the most work, whose waits are told apart.
HEAVIEST = 0.1

HEAVY = "average_wait_of_heaviest_users_seconds"
OTHERS = "average_wait_of_other_users_seconds"
MEAN_USER = "average_user_wait_seconds"
P90_USER = "p90_user_wait_seconds"


def summarise(jobs: pandas.DataFrame, workload: Workload) -> dict[str, float]:
    """Averages over the jobs of the heaviest tenth of the users and over the jobs of all others;
    and the average and the 90th percentile of the users' own averages. NaN without such jobs.

    :param jobs: as `metrics.per_job` gives them.
    """
    user = jobs["job"].map(workload.users)
    heavy = user.isin(heaviest(workload))
    of_user = jobs["wait"].groupby(user).mean()
    return {
        HEAVY: float(jobs["wait"][heavy].mean()),
        OTHERS: float(jobs["wait"][~heavy & user.notna()].mean()),
        MEAN_USER: float(of_user.mean()),
        P90_USER: float(of_user.quantile(0.9)),
    }


def heaviest(workload: Workload) -> list[int]:
    """The users with the most work (size * run time), a tenth of all users and at least one."""
    work = Counter[int]()
    for job in workload.jobs:
        if job.user >= 0:
            work[job.user] += job.size * job.runtime
    return [user for user, _work in work.most_common(max(1, int(HEAVIEST * len(work))))]


@dataclass(frozen=True)
class UserPoint(sweep.Point):
    """A run of a sweep whose row also has the metrics of `summarise`."""

    def row(self) -> dict:
        workload = sweep.workload_of(self)
        result = simulation.simulate(workload, self.scenario)
        found = summarise(metrics.per_job(result.jobs), workload)
        return metrics.summarise(result) | self.parameters() | found
