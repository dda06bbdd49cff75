"""Cost of predictions: python benchmarks/prediction.py [--estimator NAME] [--hosts 1000 --slots 16]

Prints the milliseconds of CPU time of one prediction, and of all in one run, for queues of 10 to
1,000 waiting jobs on 100 and 1,000 hosts, under easy and amcbf. Figures, not tests.

The hosts are full of running jobs. The target of one prediction is the job in the middle of the
queue. Sizes are powers of two up to a sixteenth of the slots; run times are up to a day, and nobody
runs for as long as requested. The estimators know 2,000 past jobs of 50 users.
"""

import argparse
import random
import time
from collections.abc import Callable, Iterator
from functools import partial

from nova_twotier.core import policies, prediction
from nova_twotier.core.cluster import Cluster, Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.nodes import Counted, Nodes
from nova_twotier.core.policies import Policy
from nova_twotier.core.prediction.present import Past, Present
from nova_twotier.core.snapshot import Event, Snapshot

HOSTS = (100, 1000)
WAITING = (10, 100, 1000)
POLICIES = ("easy", "amcbf")
USERS = 50
PAST = 2000
DAY = 86400.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--estimator", default="sdpn", help=f"one of {', '.join(prediction.ESTIMATORS)}"
    )
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many predictions")
    parser.add_argument("--hosts", type=_numbers, default=HOSTS)
    parser.add_argument("--slots", type=int, default=1, help="of a host")
    options = parser.parse_args()
    print(f"{options.estimator}, ms, hosts of {options.slots} slots, best of {options.rounds}")
    print(f"{'policy':8}{'hosts':>8}{'running':>9}{'waiting':>9}{'one':>10}{'all':>10}")
    for name in POLICIES:
        for hosts in options.hosts:
            for waiting in WAITING:
                rng = random.Random(1)  # noqa: S311
                present = busy(policies.get(name), hosts, waiting, rng, options.slots)
                estimator = experienced(options.estimator, hosts * options.slots, rng)
                queue = present.snapshot.queue
                target = queue[len(queue) // 2].number
                one = _best(partial(estimator.predict, present, target), options.rounds)
                every = _best(partial(estimator.predict, present), options.rounds)
                running = len(present.snapshot.cluster.runs)
                print(f"{name:8}{hosts:8}{running:9}{len(queue):9}{one:10.2f}{every:10.2f}")


def busy(policy: Policy, hosts: int, waiting: int, rng: random.Random, slots: int = 1) -> Present:
    """A queue of `waiting` jobs before hosts that are full."""
    if policy.tiers == 1:
        cluster: Cluster = Counted(hosts * slots)
    elif slots == 1:
        cluster = Nodes(hosts)
    else:
        cluster = Hosts([Host(f"host{index}", slots) for index in range(hosts)])
    snapshot = Snapshot(cluster)
    number = 0
    while len(snapshot.queue) < waiting:
        number += 1
        snapshot.queue.add(_job(number, hosts * slots, rng))
        policy.schedule(snapshot, Event.ARRIVAL, float(number))
    users = {each: each % USERS for each in range(1, number + 1)}
    done = {each: rng.uniform(0, 3600) for each in cluster.runs}
    return Present(snapshot, policy, float(number), done, users)


def experienced(name: str, slots: int, rng: random.Random) -> prediction.Estimator:
    estimator = prediction.get(name)
    for past in past_jobs(PAST, slots, rng):
        estimator.learn(past)
    return estimator


def past_jobs(count: int, slots: int, rng: random.Random) -> Iterator[Past]:
    """Finished jobs of all users, from which estimators learn."""
    for number in range(1, count + 1):
        job = _job(number, slots, rng)
        work = rng.uniform(0.05, 0.6) * job.expected
        yield Past(job, number % USERS, rng.uniform(0, DAY), work, work)


def _job(number: int, slots: int, rng: random.Random) -> Job:
    size = 2 ** rng.randint(0, (slots // 16).bit_length() - 1)
    cpu = tuple(rng.uniform(0.4, 1.0) for _process in range(size))
    return Job(number, size, float(number), cpu, estimate=rng.choice((0.5, 1, 4, 12, 24)) * 3600)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def _best(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _round in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times) * 1000


if __name__ == "__main__":
    main()
