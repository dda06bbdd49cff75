"""Small runs: workloads, jobs with utilisations of their own, and running jobs without a policy."""

import random

from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Kill, Move, Start, StartKind
from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.nodes import Nodes
from nova_twotier.core.progress import Progress
from nova_twotier.sim import engine, estimates
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.many_hosts import ManyHosts
from nova_twotier.sim.many_nodes import ManyNodes
from nova_twotier.sim.running_jobs import RunningJobs
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.shared import Shared, SharedNodes
from nova_twotier.sim.shared_many_hosts import SharedManyHosts
from nova_twotier.sim.shared_many_nodes import SharedManyNodes
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads.utilisation import Utilisation
from nova_twotier.sim.workloads.workload import Submission, Workload

ONE_TIER = sorted(name for name, policy in policies.POLICIES.items() if policy.tiers == 1)
TWO_TIER = sorted(name for name, policy in policies.POLICIES.items() if policy.tiers > 1)
KILLING = ("acfcfs", "ccfcfs")
#: Two-tier policies that consider jobs by arrival.
BY_ARRIVAL = [name for name in TWO_TIER if name != "amcbf-deadline"]

#: Numbers that one can reckon with: efficiency 0.5 (0.9 of a single process), no loss.
PLAIN = Progress(loss=(0.0, 0.0), eff_single=(0.8, 1.0), eff_parallel=(0.5, 0.0, 0.5, 0.5))


def workload(nodes, *rows):
    """Jobs numbered from 1; a row is arrival, size, runtime, and an estimate if it differs."""
    jobs = [
        Submission(number, float(arrival), size, float(runtime), float(*estimate or (runtime,)))
        for number, (arrival, size, runtime, *estimate) in enumerate(rows, 1)
    ]
    return Workload("t", nodes, tuple(jobs))


def jobs(nodes, policy, *rows, **options):
    """The jobs of a run, by number."""
    return simulate(workload(nodes, *rows), Scenario(policy, **options)).jobs.set_index("job")


def execution(number, arrival, cpu, runtime, estimate=None, true=None):
    """`cpu` is of each process; `true` differs from it if the scheduler is wrong."""
    cpu = tuple(cpu)
    job = Job(number, len(cpu), float(arrival), cpu, runtime if estimate is None else estimate)
    return Execution(job, tuple(true or job.cpu), float(runtime))


def hosts(count):
    """The general cluster of what `Nodes` is a fast one of."""
    return Hosts([Host(f"node{index}", 1) for index in range(count)])


def running_on(cluster, model=PLAIN, cost=20.0, seed=0, recorder=None):
    kinds = {Nodes: SharedNodes, ManyNodes: SharedManyNodes, ManyHosts: SharedManyHosts}
    kind = kinds.get(type(cluster), Shared)
    return kind(cost, cluster, model, random.Random(seed), recorder)


def run(policy, cluster, *executions, model=PLAIN, cost=20.0, recorder=None):
    """The jobs, by number, after a run under a policy."""
    policy = policies.get(policy) if isinstance(policy, str) else policy
    if policy.tiers == 1:
        running = RunningJobs(cost, recorder)
    else:
        running = running_on(cluster, model, cost, recorder=recorder)
    executions = sorted(executions, key=lambda execution: execution.job.order)
    return {done.job.number: done for done in engine.run(executions, policy, cluster, running)}


class Scene:
    """Running jobs and their cluster; the test is the policy."""

    def __init__(self, cluster, running):
        self.cluster, self.running = cluster, running
        self.waiting = {}
        self.ended = {}

    def start(self, now, tier, hosts, execution):
        self.waiting.setdefault(execution.job.number, execution)
        self.act(now, Start(execution.job, tier, tuple(hosts), StartKind.IMMEDIATE))

    def move(self, now, execution, tier, hosts):
        self.act(now, Move(execution.job, tier, execution.hosts, tuple(hosts)))

    def evict(self, now, execution):
        self.act(now, Evict(execution.job, execution.tier, execution.job))

    def kill(self, now, execution):
        self.act(now, Kill(execution.job, execution.tier, execution.job))

    def act(self, now, *actions):
        """Let time pass until `now`, and then do this."""
        self.until(now)
        self.cluster.apply(actions)
        self.running.carry_out(actions, self.waiting, now)
        self.running.settle(now)

    def until(self, now=float("inf")):
        while (end := self.running.next_end()) <= now and self.running.jobs:
            if end == float("inf"):
                break
            for execution in self.running.take_ended(end):
                self.cluster.remove(execution.job)
                self.ended[execution.job.number] = end
            self.running.settle(end)

    def finishes(self):
        """When each job ends if nothing else happens."""
        self.until()
        return self.ended


#: Of every reading of the papers.
READINGS = st.fixed_dictionaries(
    {},
    optional={
        "processes": st.sampled_from(("slowest", "own", "mean")),
        "draw": st.sampled_from(("mean", "job", "process", "slice")),
        "floor": st.sampled_from((0.01, 0.04, 0.3)),
        "loss": st.sampled_from(((0.0, 0.0), (0.1, 0.3))),
    },
)
UTILISATIONS = st.builds(
    Utilisation,
    lowest=st.sampled_from((0.1, 0.4, 0.9)),
    highest=st.sampled_from((0.9, 1.0)),
    error=st.sampled_from((0.0, 0.3, None)),
    closing=st.booleans(),
)


@st.composite
def workloads(draw, most=16):
    """A few jobs, many of which arrive or end at the same time; some may be too large."""
    nodes = draw(st.integers(2, 7))
    largest = nodes + draw(st.sampled_from((0, 0, 0, 1)))
    runtimes = st.sampled_from((0, 5, 10, 10, 20, 33.3, 60, 60.5))
    row = st.tuples(
        st.integers(0, 40),
        st.one_of(st.integers(1, largest), st.sampled_from((1, 2, nodes))),
        runtimes,
        st.sampled_from((1.0, 1.0, 1.5, 4.0, 0.5)),
    )
    count = draw(st.integers(1, most))
    rows = draw(st.lists(row, min_size=count, max_size=count))
    return workload(nodes, *((at, size, runtime, runtime * off) for at, size, runtime, off in rows))


@st.composite
def scenarios(draw, names=(*ONE_TIER, *TWO_TIER), **fixed):
    fields = {
        "policy": draw(st.sampled_from(names)),
        "slots": draw(st.integers(1, 3)),
        "tiers": draw(st.sampled_from((None, None, 1, 2, 3))),
        "utilisation": draw(UTILISATIONS),
        "progress": draw(st.sampled_from(("tpds", "jss"))),
        "reading": draw(READINGS),
        "migration_cost": draw(st.sampled_from((0.0, 3.5, 20.0))),
        "estimates": draw(st.sampled_from(estimates.KNOWN)),
        "rerank": draw(st.booleans()),
        "seed": draw(st.integers(0, 3)),
    }
    return Scenario(**(fields | fixed))
