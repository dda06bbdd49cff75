"""Find what makes predicted start times wrong: prediction_errors.py TRACE --nodes N

Predicts each job of a trace that has to wait, as `twotier-sim reproduce prediction` does, but also
as if the true run times of the running jobs were known, of the waiting jobs, or of both. What is
left then is due to jobs that arrive later. Figures, not tests.
"""

import argparse
from collections.abc import Mapping
from dataclasses import replace

import pandas

from nova_twotier.core.prediction.present import Forecast, Present
from nova_twotier.core.prediction.requested import Requested
from nova_twotier.core.prediction.sdpn import Sdpn
from nova_twotier.sim import forecasts, sweep
from nova_twotier.sim.simulation import Scenario


class Told(Sdpn):
    """Knows some of the true run times.

    :param run_times: in seconds, by job number.
    :param running, waiting: of which jobs it knows them.
    """

    def __init__(self, run_times: Mapping[int, float], *, running: bool, waiting: bool):
        super().__init__()
        self._true = run_times
        self._running, self._waiting = running, waiting

    def predict(self, present: Present, target: int | None = None) -> dict[int, Forecast]:
        snapshot = present.snapshot
        known = list(snapshot.cluster.runs) if self._running else []
        if self._waiting:
            known += [job.number for job in snapshot.queue]
        left = {number: self._true[number] - present.done.get(number, 0.0) for number in known}
        return super().predict(replace(present, left=left), target)


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
        "running known": Told(true, running=True, waiting=False),
        "waiting known": Told(true, running=False, waiting=True),
        "all known": Told(true, running=True, waiting=True),
    }
    _jobs, made = forecasts.simulate(workload, scenario, estimators)
    print(table(made))


def table(made: pandas.DataFrame) -> str:
    """The median and mean error of each estimator, and how many starts are early or late."""
    lines = [
        f"minutes; {made['job'].nunique()} jobs",
        f"{'':15}{'median':>8}{'mean':>8}{'>10 early':>11}{'>10 late':>10}",
    ]
    for name, rows in made.groupby("estimator", sort=False):
        error = (rows["expected_start"] - rows["start"]) / 60
        size = error.abs()
        early, late = 100 * (error < -10).mean(), 100 * (error > 10).mean()
        lines.append(f"{name:15}{size.median():8.1f}{size.mean():8.1f}{early:10.0f}%{late:9.0f}%")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
