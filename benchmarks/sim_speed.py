"""Speed of the simulator, one process: python benchmarks/sim_speed.py [--traces DIR]

Prints jobs a second of each policy on a whole trace, and how many times as long as a plain loop our
EASY takes there; time and memory of a large model workload; and events a second for 100, 1,000 and
10,000 nodes with 10,000 jobs waiting. With `--supercomputer POLICIES`, only time and memory of
these for as many jobs and slots as CEA-Curie's trace has, on hosts of `--slots` slots; with
`--growth POLICIES`, only the events a second of these, with `--arrays-from` in clusters of other
sizes than by default kept in arrays.
All in CPU time. Figures, not tests.
"""

import argparse
import contextlib
import itertools
import math
import multiprocessing
import pathlib
import random
import resource
import time

from nova_twotier.core import cluster, policies
from nova_twotier.sim import engine, machine
from nova_twotier.sim.arrivals import executions
from nova_twotier.sim.garbage import collected_seldom
from nova_twotier.sim.machine import make_cluster, make_running
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads import catalogue
from nova_twotier.sim.workloads.lublin99 import Lublin99
from nova_twotier.sim.workloads.workload import Submission, Workload

TRACE = "KTH-SP2-1996-2.swf.gz"
NODES = 100
ONE_TIER = ("fcfs", "easy", "cmbf", "ambf")
TWO_TIERS = ("ccfcfs", "acfcfs", "cmcbf", "amcbf")
WAITING = 10_000
#: The model's average job is then of 292 processes for two hours.
CURIE_JOBS, CURIE_SLOTS, LARGEST, LOAD = 312_807, 93_312, 4096, 0.7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=pathlib.Path, default=pathlib.Path("../shared/traces"))
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts")
    parser.add_argument("--jobs", type=int, help="of the large workload, or the supercomputer's")
    parser.add_argument("--supercomputer", metavar="POLICIES", help="such as easy,amcbf")
    parser.add_argument(
        "--slots", type=int, default=1, help="slots of each host, with --supercomputer"
    )
    parser.add_argument("--growth", metavar="POLICIES", help="such as acfcfs,amcbf")
    parser.add_argument("--arrays-from", type=float, metavar="NODES", default=machine.MANY)
    options = parser.parse_args()
    print("interpreted" if cluster.__file__.endswith(".py") else "compiled")
    if options.supercomputer:
        for policy in options.supercomputer.split(","):
            supercomputer(policy, options.jobs or CURIE_JOBS, options.slots)
        return
    if options.growth:
        machine.MANY = options.arrays_from
        growth(options.growth.split(","))
        return
    if (options.traces / TRACE).exists():
        trace(options.traces / TRACE, options.rounds)
    else:
        print(f"no {TRACE} in {options.traces}: name its directory by --traces")
    large(options.jobs or 350_000)
    growth((*ONE_TIER, *TWO_TIERS))


def trace(path: pathlib.Path, rounds: int) -> None:
    """Jobs a second: events and decisions alone, and with preparation and result table."""
    workload = catalogue.load(str(path), nodes=NODES)
    print(f"{workload.name}: {len(workload.jobs)} jobs, {NODES} nodes, best of {rounds}")
    print(f"{'policy':8} {'jobs/s':>10} {'whole run':>10} {'ratio':>6}")
    scenarios = [Scenario(name, progress="jss") for name in (*ONE_TIER, *TWO_TIERS)]
    # In turn, so that what else the machine does for a while meets all alike.
    counts = [
        [(_run(workload, each), _timed(lambda: simulate(workload, each))) for each in scenarios]  # noqa: B023
        for _round in range(rounds)
    ]
    for scenario, times in zip(scenarios, zip(*counts, strict=True), strict=True):
        alone, whole = (len(workload.jobs) / min(kind) for kind in zip(*times, strict=True))
        print(f"{scenario.policy:8} {alone:10,.0f} {whole:10,.0f} {whole / alone:6.2f}")
        if scenario.policy == "easy":
            ours = min(each[0] for each in times)
    plain = min(_timed(lambda: plain_easy(workload.jobs, NODES)) for _round in range(rounds))
    print(f"easy takes {ours / plain:.2f} times as long as a plain loop, interpreted")


def _run(workload: Workload, scenario: Scenario) -> float:
    prepared = list(executions(workload.jobs, scenario))
    events = _events(workload, scenario, prepared)
    with collected_seldom():
        return _timed(lambda: all(True for _job in events))


def _events(workload, scenario, arrivals):
    policy = policies.get(scenario.policy)
    rng = random.Random(scenario.seed)  # noqa: S311
    hosts = make_cluster(workload.nodes, scenario, policy, named=False, rng=rng)
    return engine.run(arrivals, policy, hosts, make_running(hosts, scenario, policy, rng))


def _timed(work) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def plain_easy(jobs: tuple[Submission, ...], nodes: int) -> float:
    """Simulate EASY in a plain loop; returns the average wait in seconds."""
    free, waits, waiting, running, coming = nodes, 0.0, [], [], 0
    while coming < len(jobs) or running:
        arrival = jobs[coming].arrival if coming < len(jobs) else math.inf
        now = min(arrival, min(running)[0]) if running else arrival
        free += sum(size for end, size, _expected in running if end <= now)
        running = [run for run in running if run[0] > now]
        while coming < len(jobs) and jobs[coming].arrival <= now:
            waiting.append(jobs[coming])
            coming += 1
        shadow, extra = math.inf, nodes
        for job in list(waiting):
            if job.size > free or (job.size > extra and now + job.estimate > shadow):
                if shadow == math.inf:  # it is the head: when can it start, and what is left then?
                    extra = free - job.size
                    for expected, size in sorted((max(run[2], now), run[1]) for run in running):
                        if expected > shadow:
                            break
                        extra += size
                        shadow = expected if extra >= 0 else shadow
                continue
            if shadow < math.inf and now + job.estimate > shadow:
                extra -= job.size
            free, waits = free - job.size, waits + now - job.arrival
            running.append((now + job.runtime, job.size, now + job.estimate))
            waiting.remove(job)
    return waits / len(jobs)


def large(jobs: int) -> None:
    """Time and memory of acfcfs on a model workload, in a process of its own."""
    seconds, megabytes = _alone(_large, jobs)
    print(
        f"acfcfs, feitelson:{jobs} at load 0.7 on 320 nodes: {seconds:.1f} s, "
        f"{megabytes:,.0f} MiB at most, workload and result table included"
    )


def _large(jobs: int) -> tuple[float, float]:
    workload = catalogue.load(f"feitelson:{jobs}", load=0.7)
    return _cost(workload, Scenario("acfcfs", progress="jss"))


def supercomputer(policy: str, jobs: int, slots: int) -> None:
    """Time and memory of a policy on as many slots as CEA-Curie's trace has, `slots` a host."""
    seconds, megabytes = _alone(_curie, policy, jobs, slots)
    print(
        f"{policy}, {jobs:,} jobs of up to {LARGEST:,} processes at load {LOAD} on "
        f"{CURIE_SLOTS:,} slots, {slots} a host: {seconds:.1f} s, {megabytes:,.0f} MiB at most",
        flush=True,
    )


def _curie(policy: str, jobs: int, slots: int) -> tuple[float, float]:
    workload = Lublin99(largest=LARGEST).generate(jobs, 1, CURIE_SLOTS)
    return _cost(workload.scaled(LOAD), Scenario(policy, slots=slots, progress="jss"))


def _cost(workload: Workload, scenario: Scenario) -> tuple[float, float]:
    seconds = _timed(lambda: simulate(workload, scenario))
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _alone(work, *arguments):
    """What a function returns in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def growth(names) -> None:
    """Events a second while about 10,000 jobs wait, for clusters of several sizes."""
    print(f"events/s with {WAITING:,} jobs waiting")
    print(f"{'policy':8}" + "".join(f"{nodes:>9,} nodes" for nodes in (100, 1000, 10_000)))
    for name in names:
        row = [f"{_saturated(name, nodes):15,.0f}" for nodes in (100, 1000, 10_000)]
        print(f"{name:8}" + "".join(row))


def _saturated(name: str, nodes: int, ends: int = 5000) -> float:
    rng = random.Random(1)  # noqa: S311
    sizes = [min(round(2 ** rng.uniform(0, 6)), 64) for _job in range(2 * WAITING + 4 * ends)]
    runtimes = [rng.expovariate(1 / 3600) + 1 for _size in sizes]
    work = sum(size * runtime for size, runtime in zip(sizes, runtimes, strict=True))
    gap = work / len(sizes) / nodes
    jobs = tuple(
        Submission(number, max(0.0, (number - WAITING) * gap), size, runtime, 2 * runtime)
        for number, (size, runtime) in enumerate(zip(sizes, runtimes, strict=True))
    )
    scenario = Scenario(name, progress="jss")
    prepared = list(executions(jobs, scenario))
    ended = _events(Workload(name, nodes, jobs), scenario, prepared)
    # The first decision is about all 10,000 at once: it does not count.
    with contextlib.closing(ended), collected_seldom():
        first = next(ended)
        begin = time.process_time()
        last = next(itertools.islice(ended, ends - 1, None))
        seconds = time.process_time() - begin
    arrived = sum(first.finish < job.arrival <= last.finish for job in jobs)
    return (ends + arrived) / seconds


if __name__ == "__main__":
    main()
