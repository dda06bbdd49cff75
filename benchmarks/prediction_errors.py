"""Find what makes predicted start times wrong: prediction_errors.py TRACE --nodes N

Predicts each job of a trace that has to wait, as `twotier-sim reproduce prediction` does, but also
as if the true run times of the running jobs were known, of the waiting jobs, or of both. What is
left then is due to jobs that arrive later. "running half known" tells how much better the run times
of running jobs would have to be: what is left of each job is the geometric mean of the truth and of
what `sdpn` expects. "drawn" is what can be had without knowing more: the median start of several
forward runs, each of which draws run times from those of similar past jobs. Figures, not tests.

Nothing is fitted to a trace, but compare the halves: what is better in one only, is so by chance.
"""

import argparse
import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import median

import pandas

from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction import forward, run_times
from nova_twotier.core.prediction.present import Forecast, Present
from nova_twotier.core.prediction.requested import Requested
from nova_twotier.core.prediction.sdpn import Sdpn
from nova_twotier.core.prediction.work_left import within_request
from nova_twotier.sim import forecasts, sweep
from nova_twotier.sim.scenario import Scenario

#: Forward runs of which `Drawn` takes the median.
RUNS = 9


class Told(Sdpn):
    """Knows some of the true run times.

    :param run_times: in seconds, by job number.
    :param running, waiting: of which jobs it knows them.
    :param share: 1: knows what is left of them; between 0 and 1: the logarithm of what it expects
        is so much nearer to that of the truth.
    """

    def __init__(
        self,
        run_times: Mapping[int, float],
        *,
        running: bool,
        waiting: bool,
        share: float = 1.0,
    ):
        super().__init__()
        self._true = run_times
        self._running, self._waiting = running, waiting
        self._share = share

    def predict(self, present: Present, target: int | None = None) -> dict[int, Forecast]:
        snapshot = present.snapshot
        known = [run.job for run in snapshot.cluster.runs.values()] if self._running else []
        if self._waiting:
            known += snapshot.queue
        left = {job.number: self._left(present, job) for job in known}
        return super().predict(replace(present, left=left), target)

    def _left(self, present: Present, job: Job) -> float:
        done = present.done_by(job)
        true = self._true[job.number] - done
        if self._share == 1.0 or true <= 0:
            return true
        expected = max(1.0, self.run_time(job, present.user_of(job), done) - done)
        return math.exp(self._share * math.log(true) + (1 - self._share) * math.log(expected))


class Drawn(Sdpn):
    """The median of forward runs in which run times are drawn from those of similar jobs."""

    def predict(self, present: Present, target: int | None = None) -> dict[int, Forecast]:
        runs = [self._run(present, target, index) for index in range(RUNS)]
        numbers = set.intersection(*map(set, runs))
        return {number: Forecast(*_medians(run[number] for run in runs)) for number in numbers}

    def _run(self, present: Present, target: int | None, index: int) -> dict[int, Forecast]:
        def remaining(job: Job) -> float:
            user, done = present.user_of(job), present.done_by(job)
            times = run_times.of_similar(self._run_times, job, user, beyond=done)
            # The runs take all parts of the distribution, each job's in an order of its own.
            parts = random.Random(job.number).sample(range(RUNS), RUNS)  # noqa: S311
            at = (2 * parts[index] + 1) * len(times) // (2 * RUNS)
            return within_request(times[at] if times else None, job, done) - done

        return forward.run(present, remaining, self.pace(present), target)


def _medians(made: Iterable[Forecast]) -> tuple[float, float]:
    starts, finishes = zip(*made, strict=True)
    return median(starts), median(finishes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--head", type=int, help="only the first jobs of the trace")
    parser.add_argument("--policy", default="amcbf")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    scenario = Scenario(options.policy, seed=options.seed)
    point = sweep.Point(options.trace, scenario, nodes=options.nodes, head=options.head)
    workload = sweep.workload_of(point)
    true = {job.number: job.runtime for job in workload.jobs}
    estimators = {
        "requested": Requested(),
        "sdpn": Sdpn(),
        "drawn": Drawn(),
        "running half known": Told(true, running=True, waiting=False, share=0.5),
        "running known": Told(true, running=True, waiting=False),
        "waiting known": Told(true, running=False, waiting=True),
        "all known": Told(true, running=True, waiting=True),
    }
    _jobs, made = forecasts.simulate(workload, scenario, estimators)
    print(table(made))


def table(made: pandas.DataFrame) -> str:
    """The median and mean error of each estimator, and how many starts are early or late.

    `first` and `second` are the medians of the halves of the jobs, by when they were predicted.
    """
    middle = made["made"].median()
    lines = [
        f"minutes; {made['job'].nunique()} jobs",
        f"{'':18}{'median':>8}{'first':>8}{'second':>8}{'corrected':>10}{'mean':>8}"
        f"{'>10 early':>11}{'>10 late':>10}",
    ]
    for name, rows in made.groupby("estimator", sort=False):
        error = (rows["expected_start"] - rows["start"]) / 60
        size = error.abs()
        corrected = (rows["corrected_start"] - rows["start"]).abs().median() / 60
        first = size[rows["made"] <= middle].median()
        second = size[rows["made"] > middle].median()
        early, late = 100 * (error < -10).mean(), 100 * (error > 10).mean()
        lines.append(
            f"{name:18}{size.median():8.1f}{first:8.1f}{second:8.1f}{corrected:10.1f}"
            f"{size.mean():8.1f}{early:10.0f}%{late:9.0f}%"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
