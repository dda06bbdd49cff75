"""Cost of what-if: python -m benchmarks.what_if [--waiting N] [--hosts N]

Prints the seconds of reading a state from its file, and of the answer about a new job under easy
and amcbf: two forward runs, each with a pass of the policy; and the size of the file. Figures, not
tests. The queue is that of benchmarks/prediction.py, with all 1,000 past jobs that a state has.
"""

import argparse
import json
import random
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from benchmarks.prediction import busy, past_jobs
from nova_twotier.core import policies, queue_state
from nova_twotier.core.cluster import Host
from nova_twotier.core.queue_state import QueueJob, QueueState, changes, past_of
from nova_twotier.sim import what_if

POLICIES = ("easy", "amcbf")
#: As many as `twotier-manage snapshot` writes.
PAST = 1000
T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--waiting", type=int, default=1000)
    options = parser.parse_args()
    counts = f"{'hosts':>8}{'running':>9}{'waiting':>9}"
    print(f"{'policy':8}{counts}{'MB':>7}{'read s':>8}{'answer s':>10}")
    for name in POLICIES:
        state = crowded(name, options.hosts, options.waiting)
        text = queue_state.text(state)
        read, again = _timed(partial(_read, text))
        answer, _both = _timed(partial(asked, again))
        running = len(again.jobs) - len(again.waiting)
        sizes = f"{options.hosts:8}{running:9}{len(again.waiting):9}{len(text) / 1e6:7.2f}"
        print(f"{name:8}{sizes}{read:8.2f}{answer:10.2f}")


def crowded(policy: str, hosts: int, waiting: int) -> QueueState:
    """The state of the queue of `prediction.busy`, on hosts of one slot."""
    rng = random.Random(1)  # noqa: S311
    present = busy(policies.get(policy), hosts, waiting, rng)
    queue, runs = present.snapshot.queue, present.snapshot.cluster.runs.values()
    users, done = present.users, present.done
    names = {number: f"user {user}" for number, user in users.items()}
    # Under a policy with one tier, the hosts of that queue are only counted.
    free = iter(range(hosts))
    jobs = [QueueJob(job, names[job.number]) for job in queue]
    for run in runs:
        places = run.hosts or tuple(next(free) for _process in range(run.job.size))
        number = run.job.number
        jobs.append(QueueJob(run.job, names[number], done[number], run.tier, places))
    past = (
        past_of(
            each.job.number,
            each.job.size,
            each.job.estimate,
            f"user {each.user}",
            wait=each.wait,
            elapsed=each.elapsed,
            work=each.work,
        )
        for each in past_jobs(PAST, hosts, rng)
    )
    return QueueState(
        at=present.now,
        policy=policy,
        hosts=tuple(Host(f"host{index}", 1) for index in range(hosts)),
        jobs=tuple(sorted(jobs, key=lambda each: each.job.number)),
        past=tuple(past),
    )


def _read(text: str) -> QueueState:
    return queue_state.load(json.loads(text))


def asked(state: QueueState) -> tuple[object, object]:
    """Predict the queue as it is, and with one more job."""
    other, _number = changes.add_job(state, 16, 3600.0)
    return what_if.expect(state), what_if.expect(other)


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    """Call a function; returns the CPU seconds that it took, and its result."""
    begin = time.process_time()
    made = work()
    return time.process_time() - begin, made


if __name__ == "__main__":
    main()
