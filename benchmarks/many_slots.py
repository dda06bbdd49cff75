"""Cost of several slots a host: python benchmarks/many_slots.py [--slots 16] [--totals 128,8192]

Prints, for each two-tier policy, the milliseconds of CPU time that the simulator takes for an
event (the arrival or the end of a job) on hosts of one slot, and on hosts of several with the same
slots in all, and how many times as long the latter is. Both take turns within one run, and the best
of the rounds counts. Figures, not tests.

Jobs arrive as fast as the slots can work; some wait from the beginning on. Sizes are powers of two
up to a sixteenth of the slots, drawn evenly.
"""

import argparse
import contextlib
import itertools
import random
import time

from nova_twotier.core import policies
from nova_twotier.sim import engine
from nova_twotier.sim.arrivals import executions
from nova_twotier.sim.machine import make_cluster, make_running
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads.workload import Submission

TWO_TIERS = tuple(name for name, policy in policies.POLICIES.items() if policy.tiers > 1)
WAITING = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slots", type=int, default=16, help="of a host")
    parser.add_argument("--totals", type=_numbers, default=(128, 1024, 8192, 93_312))
    parser.add_argument("--policies", type=lambda text: text.split(","), default=TWO_TIERS)
    parser.add_argument("--ends", type=int, default=300, help="jobs that end while time is taken")
    parser.add_argument("--rounds", type=int, default=3, help="of which the fastest counts")
    options = parser.parse_args()
    print(f"ms of CPU time an event, best of {options.rounds}")
    print(f"{'policy':15}{'slots':>8}{'1 a host':>11}{f'{options.slots} a host':>11}{'ratio':>8}")
    for total in options.totals:
        for name in options.policies:
            jobs = saturating(total, options.ends)
            times = [
                [
                    cost(Scenario(name, slots=slots), jobs, total, options.ends)
                    for slots in (1, options.slots)
                ]
                for _round in range(options.rounds)
            ]
            one, several = (1000 * min(each) for each in zip(*times, strict=True))
            print(f"{name:15}{total:8,}{one:11.3f}{several:11.3f}{several / one:8.2f}", flush=True)


def saturating(total: int, ends: int) -> tuple[Submission, ...]:
    """A workload that keeps so many slots busy until so many jobs have ended."""
    rng = random.Random(1)  # noqa: S311
    largest = max(1, total // 16).bit_length() - 1
    sizes = [2 ** rng.randint(0, largest) for _job in range(WAITING + 6 * ends)]
    runtimes = [rng.expovariate(1 / 3600) + 1 for _size in sizes]
    work = sum(size * runtime for size, runtime in zip(sizes, runtimes, strict=True))
    gap = work / len(sizes) / total
    return tuple(
        Submission(number, max(0.0, (number - WAITING) * gap), size, runtime, 2 * runtime)
        for number, (size, runtime) in enumerate(zip(sizes, runtimes, strict=True))
    )


def cost(scenario: Scenario, jobs: tuple[Submission, ...], total: int, ends: int) -> float:
    """Seconds of CPU time an event."""
    policy = policies.get(scenario.policy)
    rng = random.Random(scenario.seed)  # noqa: S311
    cluster = make_cluster(total, scenario, policy, named=False, rng=rng)
    running = make_running(cluster, scenario, policy, rng)
    ended = engine.run(list(executions(jobs, scenario)), policy, cluster, running)
    # The first jobs fill an empty cluster: they do not count.
    with contextlib.closing(ended):
        first = next(itertools.islice(ended, ends // 3, None))
        begin = time.process_time()
        last = next(itertools.islice(ended, ends - 1, None))
        seconds = time.process_time() - begin
    arrived = sum(first.finish < job.arrival <= last.finish for job in jobs)
    return seconds / (ends + arrived)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


if __name__ == "__main__":
    main()
