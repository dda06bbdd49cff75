"""Replays the decisions of a run that took place elsewhere: jobs arrive and end as they did there.

Given the times of a live run, the simulator has to make the same decisions; no model of progress is
involved.
"""

import contextlib
import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from nova_twotier.core.actions import Action, Move, Start
from nova_twotier.core.cluster import Cluster, Run
from nova_twotier.core.jobs import Job
from nova_twotier.core.policies import Policy
from nova_twotier.sim import engine, network
from nova_twotier.sim.estimates import Predictions
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.recorder import Recorder
from nova_twotier.sim.running_jobs import RunningJobs

#: Of each job, by its number, the hosts of its processes at each start, by index.
Hosts = Mapping[int, Iterable[tuple[int, ...]]]


class Diverged(Exception):
    """A job is due to end that does not run: a decision differs from the script.

    :ivar decisions: the decisions until then.
    """

    decisions: Sequence["Decision"] = ()


class Decision(NamedTuple):
    """What a policy decided at one instant, in seconds."""

    at: float
    actions: tuple[Action, ...]


class Scripted(RunningJobs):
    """Jobs end at given times, whatever progress they could have made by then.

    :param cluster: the one that the policy leaves as it is after its actions.
    :param ends: when each job ends, in seconds, by its number.
    :param hosts: where jobs were put by somebody else than the policy, such as Nova's scheduler,
        which sees the cluster as it is when a job starts, and not as the policy thought it out.
        Where that is elsewhere, the policy is asked once more, as it is in a live run.
    """

    def __init__(
        self,
        cluster: Cluster,
        ends: Mapping[int, float],
        hosts: Hosts | None = None,
        recorder: Recorder | None = None,
    ):
        super().__init__(cost=0.0, recorder=recorder)
        self._cluster = cluster
        self._script = sorted(((at, number) for number, at in ends.items()), reverse=True)
        self._hosts = {number: deque(starts) for number, starts in (hosts or {}).items()}
        #: When the policy is asked again.
        self._again = math.inf
        self.decisions: list[Decision] = []

    def next_end(self) -> float:
        return min(self._again, self._script[-1][0] if self._script else math.inf)

    def take_ended(self, now: float) -> list[Execution]:
        """:raises Diverged: if one of them does not run."""
        self._again = math.inf
        ended = []
        while self._script and self._script[-1][0] <= now:
            _at, number = self._script.pop()
            if number not in self.jobs:
                raise Diverged(f"job {number} ends at {now:g} s, but does not run")
            ended.append(self._take_off(number, now))
        return ended

    def carry_out(
        self, actions: Sequence[Action], waiting: dict[int, Execution], now: float
    ) -> None:
        self.decisions.append(Decision(now, tuple(actions)))
        starting = [action for action in actions if isinstance(action, Start)]
        for action in actions:
            number = action.job.number
            if isinstance(action, Move):
                self._put_on(self._take_off(number, now), now)
            elif not isinstance(action, Start):
                waiting[number] = self._take_off(number, now)
        if self._place(starting):
            self._again = now
        for action in starting:
            self._put_on(waiting.pop(action.job.number), now)

    def _place(self, starts: Iterable[Start]) -> bool:
        """Put jobs where the script had them; returns whether that is elsewhere."""
        placed: list[Run] = []
        for start in starts:
            hosts = self._hosts.get(start.job.number)
            if hosts and (there := hosts.popleft()) != start.hosts:
                placed.append(self._cluster.remove(start.job)._replace(hosts=there))
        for run in placed:
            self._cluster.adopt(run)
        return bool(placed)

    def _put_on(self, job: Execution, now: float) -> None:
        number = job.job.number
        run = self._cluster.runs[number]
        job.tier, job.hosts, job.placed = run.tier, run.hosts, now
        self.jobs[number] = job

    def _take_off(self, number: int, now: float) -> Execution:
        job = self.jobs.pop(number)
        if self._recorder:
            self._recorder.left(job, now)
        return job


def decide(
    jobs: Iterable[Job],
    ends: Mapping[int, float],
    policy: Policy,
    cluster: Cluster,
    hosts: Hosts | None = None,
    recorder: Recorder | None = None,
    predictions: Predictions | None = None,
) -> list[Decision]:
    """What a policy decides when jobs arrive and end at these times.

    :param jobs: by arrival; those whose bandwidth a network can never give are left out.
    :param ends: when each job ended, by its number; those left out were not over yet.
    :param cluster: what the jobs run on, with nothing on it.
    :param hosts: as of `Scripted`.
    :param predictions: as of `engine.run`.
    :returns: the decisions, but those to leave everything as it is.
    :raises Diverged: if a job ends that the policy has not started, or has preempted.
    """
    running = Scripted(cluster, ends, hosts, recorder)
    arrivals = network.admitted((Execution(job, job.cpu, 0.0) for job in jobs), cluster, [])
    try:
        with contextlib.suppress(engine.Stuck):  # the script ends before the last job
            for _ended in engine.run(arrivals, policy, cluster, running, predictions=predictions):
                pass
    except Diverged as diverged:
        diverged.decisions = running.decisions
        raise
    return running.decisions
