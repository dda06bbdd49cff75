"""One run: a workload under a policy, from the first arrival to the last end."""

import random
from collections.abc import Callable
from dataclasses import dataclass

import pandas

from nova_twotier.core.actions import FG
from nova_twotier.core.linked import Linked
from nova_twotier.sim import engine, network, variants
from nova_twotier.sim.arrivals import executions
from nova_twotier.sim.easy_plus_plus import EasyPlusPlus
from nova_twotier.sim.estimates import Predictions
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.garbage import collected_seldom
from nova_twotier.sim.job_table import JobTable
from nova_twotier.sim.machine import make_cluster, make_running
from nova_twotier.sim.recorder import Recorder, Stay
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.sharing import Sharing
from nova_twotier.sim.workloads.workload import Workload


@dataclass
class Result:
    """The result of a run.

    :param jobs: one row a job, by number, with `job_table.COLUMNS`.
    :param rejected: job, size and reason of jobs that this cluster can never run or, without a
        queue, could not run when they arrived.
    :param nodes: slots.
    :param span: seconds from the first arrival to the last end.
    :param busy: CPU seconds used.
    :param schedule: if it was asked for: job, process, slot, tier, begin, end.
    """

    workload: str
    scenario: Scenario
    jobs: pandas.DataFrame
    rejected: pandas.DataFrame
    nodes: int
    span: float
    busy: float
    schedule: pandas.DataFrame | None = None


def simulate(
    workload: Workload,
    scenario: Scenario,
    *,
    record: bool = False,
    watch: engine.Watch | None = None,
    ended: Callable[[Execution], None] | None = None,
) -> Result:
    """Run a workload; deterministic given its inputs.

    A job larger than the cluster is rejected, and the run goes on.

    :param record: whether to keep the schedule: a row for each stay of a process, so a lot.
    :param watch: called after each pass; not without a queue.
    :param ended: called with each job that has ended, before the pass that follows.
    :raises InvalidScenario: if the workload is for other nodes than the topology has, has no
        owners for fair share, or no classes that it is to give.
    """
    scenario.check_jobs(workload)
    policy = variants.get(scenario.policy, scenario.deadline_factor)
    if isinstance(policy, EasyPlusPlus):
        policy.users = workload.users
    rng = random.Random(scenario.seed)  # noqa: S311
    cluster = make_cluster(workload.nodes, scenario, policy, named=record, rng=rng)
    recorder = Recorder(scenario.slots) if record else None
    running = make_running(cluster, scenario, policy, rng, recorder)
    size = cluster.idle[FG]
    rejected = [
        (job.number, job.size, f"needs {job.size} slots; the cluster has {size}")
        for job in workload.jobs
        if job.size > size
    ]
    accepted = [job for job in workload.jobs if job.size <= size]
    arrivals = executions(accepted, scenario)
    if scenario.queueing:
        if isinstance(cluster, Linked):
            arrivals = network.admitted(arrivals, cluster, rejected)
        sharing = sharing_of(workload, scenario, size)
        predictions = Predictions.of(
            scenario.estimates, workload.users, policy, rerank=scenario.rerank
        )
        run = engine.run(
            arrivals, policy, cluster, running, watch, sharing, predictions=predictions
        )
    else:
        run = network.run_without_queue(arrivals, cluster, running, rejected)
    table = JobTable()
    with collected_seldom():
        table.fill(run, ended)
    jobs = table.frame()
    rejected.sort()
    return Result(
        workload=workload.name,
        scenario=scenario,
        jobs=jobs,
        rejected=pandas.DataFrame(rejected, columns=["job", "size", "reason"]),
        nodes=size,
        span=float(jobs["finish"].max() - jobs["arrival"].min()) if len(jobs) else 0.0,
        busy=table.busy,
        schedule=pandas.DataFrame(recorder.stays(), columns=Stay._fields) if recorder else None,
    )


def sharing_of(workload: Workload, scenario: Scenario, slots: int) -> Sharing | None:
    """What the owners use during a run; None without fair share."""
    if scenario.fair_share is None:
        return None
    owners = {number: str(owner) for number, owner in scenario.owners(workload).items()}
    return Sharing(scenario.sharing(), owners, slots)
