"""How often the intervals that users see hold: shown_intervals.py TRACE --nodes N

Intervals follow from the errors of the first prediction of each job, made when it arrives, and
`twotier-sim reproduce prediction` judges those. But users look again while a job waits and runs.
Here `sdpn` predicts the whole queue at every so many passes, as the queue manager does, and all
intervals are compared with what came. A job that waits for long counts often. Figures, not tests.
"""

import argparse
from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean

from nova_twotier.core.prediction.calibration import Interval
from nova_twotier.core.prediction.present import Present
from nova_twotier.core.prediction.sdpn import Sdpn
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.sim import simulation, sweep, variants
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.forecasts import Forecaster
from nova_twotier.sim.scenario import Scenario
from nova_twotier.sim.workloads.workload import Workload


class Looks:
    """Predicts a queue from time to time, and keeps which intervals held.

    :param every: passes from one look to the next.
    :ivar held: of each kind of interval, whether each one held.
    """

    def __init__(self, workload: Workload, scenario: Scenario, every: int):
        self._policy = variants.get(scenario.policy, scenario.deadline_factor)
        self._users, self._cost = workload.users, scenario.migration_cost
        self._every, self._passes = every, 0
        self._estimator = Sdpn()
        estimators = {"sdpn": self._estimator}
        self._forecaster = Forecaster(estimators, self._policy, self._users, self._cost)
        #: Kind, time looked for, and interval of each answer about a job that has not ended.
        self._shown: dict[int, list[tuple[str, str, Interval]]] = defaultdict(list)
        self.held: dict[str, list[bool]] = defaultdict(list)

    def watch(
        self,
        snapshot: Snapshot,
        waiting: Mapping[int, Execution],
        running: Mapping[int, Execution],
        now: float,
    ) -> None:
        """As `engine.run` calls it."""
        self._forecaster.watch(snapshot, waiting, running, now)
        self._passes += 1
        if self._passes % self._every:
            return
        done = {
            number: each.done(now) for jobs in (running, waiting) for number, each in jobs.items()
        }
        present = Present(snapshot, self._policy, now, done, self._users, (), self._cost)
        starts, finishes = self._forecaster.calibrations("sdpn")
        for number, forecast in self._estimator.predict(present).items():
            state = "running"
            if number in waiting:
                state = "preempted" if waiting[number].start is not None else "waiting"
            shown = [(f"finish, {state}", "finish", finishes.interval(now, forecast.finish))]
            if state == "waiting":
                shown.append(("start", "start", starts.interval(now, forecast.start)))
            for kind, what, interval in shown:
                if interval is not None:
                    self._shown[number].append((kind, what, interval))

    def ended(self, execution: Execution) -> None:
        """Compare what was shown of a job with what came."""
        for kind, what, interval in self._shown.pop(execution.job.number, ()):
            self.held[kind].append(interval.holds(getattr(execution, what)))
        self._forecaster.ended(execution)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--head", type=int, help="only the first jobs of the trace")
    parser.add_argument("--policy", default="amcbf")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=100, help="passes from look to look")
    options = parser.parse_args()
    scenario = Scenario(options.policy, seed=options.seed)
    point = sweep.Point(options.trace, scenario, nodes=options.nodes, head=options.head)
    workload = sweep.workload_of(point)
    looks = Looks(workload, scenario, options.every)
    simulation.simulate(workload, scenario, watch=looks.watch, ended=looks.ended)
    for kind, held in sorted(looks.held.items()):
        print(f"{kind:18}{100 * fmean(held):4.0f} % of {len(held):,} held")


if __name__ == "__main__":
    main()
