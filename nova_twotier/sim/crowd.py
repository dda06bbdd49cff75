"""Nodes of one CPU that parallel jobs and local users share, as in CISNE (Lérida et al.).

The rule by which processes slow each other down here is none of those that the estimators use: a
process that computes shares its CPU with those that compute at the same moment, of which the other
processes there are a part of the time; and likewise those that communicate share a link.
"""

import random
from collections import deque
from collections.abc import Sequence

from nova_twotier.core.actions import FG, Tier
from nova_twotier.core.cluster import Host, Run, make_run
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.prediction.nodes import Node
from nova_twotier.sim.running_jobs import RunningJobs

NODES = 16
#: Capacity of a link in Mbit/s.
LINK = 1000.0
#: Local load: 15 % of a CPU on average, none or this much, for so many seconds on average.
LOCAL, BUSY, SPELL = 0.15, 0.6, 60.0
#: Share of a saturated link that local tasks take; of the others they take 0.5 KB/s.
SATURATED = 0.7
LOCAL_MBPS = 0.004
#: Seconds between two samples of the cluster's state, and how many are kept.
SAMPLE, SAMPLES = 1.0, 120
#: Seconds after which the local load is looked at again.
STEP = 10.0


class Crowd(Hosts):
    """Nodes with a place for each of `level` processes; the policy of node selection is its own."""

    def __init__(self, level: int, uniform: bool):
        super().__init__([Host(f"node{index}", level, tiers=1) for index in range(NODES)])
        self._uniform = uniform

    def copy(self) -> "Crowd":
        twin = Crowd(self.hosts[0].slots, self._uniform)
        self._copy_runs(twin)
        self._copy_counts(twin)
        return twin

    def start(
        self, job: Job, tier: Tier, hosts: Sequence[int] | None = None, until: float = 0.0
    ) -> Run:
        chosen = tuple(hosts if hosts is not None else self._choose(job))
        run = make_run((job, tier, chosen, False, until))
        self.adopt(run)
        return run

    def _choose(self, job: Job) -> list[int]:
        """One place after the other: a node of the least load, without the others of the job."""
        used, load = list(self.used[FG]), list(self.load[FG])
        level, cpu = self.hosts[0].slots, job.cpu[0]
        taken = [0] * NODES
        for _process in range(job.size):
            node = min(
                (index for index in range(NODES) if used[index] < level),
                key=lambda index: (taken[index], *self._rank(used[index], load[index], cpu), index),
            )
            taken[node] += 1
            used[node] += 1
            load[node] += cpu
        return [node for node in range(NODES) for _process in range(taken[node])]

    def _rank(self, used: int, load: float, cpu: float) -> tuple[float, float]:
        """Normal: by load. Uniform: evenly filled, and the most unlike processes together."""
        return (used, load if cpu > 0.5 else -load) if self._uniform else (load, used)


class LocalUsers:
    """The load of the local users on each node, sampled every second.

    :param saturated: nodes on whose links they saturate.
    """

    def __init__(self, saturated: int, rng: random.Random):
        self._rng = rng
        self.mbps = [SATURATED * LINK if node < saturated else LOCAL_MBPS for node in range(NODES)]
        rng.shuffle(self.mbps)
        self.load = [self._draw() for _node in range(NODES)]
        self._samples = [deque([each] * SAMPLES, maxlen=SAMPLES) for each in self.load]
        self.now = 0.0

    def _draw(self) -> float:
        return BUSY if self._rng.random() < LOCAL / BUSY else 0.0

    def until(self, now: float) -> None:
        """Let time pass."""
        while self.now + SAMPLE <= now:
            self.now += SAMPLE
            for node in range(NODES):
                if self._rng.random() < SAMPLE / SPELL:
                    self.load[node] = self._draw()
                self._samples[node].append(self.load[node])

    def nodes(self, window: int) -> list[Node]:
        """What an observer knows who averages the last `window` samples."""
        recent = [list(samples)[-max(1, window) :] for samples in self._samples]
        return [
            Node(local=sum(each) / len(each), cpus=1, mbps=LINK, local_mbps=mbps)
            for each, mbps in zip(recent, self.mbps, strict=True)
        ]


class TimeShared(RunningJobs):
    """Processes that share the CPUs and links of their nodes with each other and local users."""

    def __init__(self, users: LocalUsers):
        super().__init__(cost=0.0)
        self._users = users
        self._again = 0.0

    def next_end(self) -> float:
        end = super().next_end()
        return min(end, self._again) if self.jobs else end

    def settle(self, now: float) -> None:
        self._users.until(now)
        self._again = now + STEP
        computing, sending = [0.0] * NODES, [0.0] * NODES
        for job in self.jobs.values():
            for node, cpu in zip(job.hosts, job.cpu, strict=True):
                computing[node] += cpu
                sending[node] += (1 - cpu) * job.job.mbps
        for job in self.jobs.values():
            cpu, mbps = job.cpu[0], job.job.mbps
            processing = max(
                (1 + computing[node] - cpu) / (1 - self._users.load[node]) for node in job.hosts
            )
            communication = max(
                max(1.0, (mbps + sending[node] - (1 - cpu) * mbps) / self._left(node))
                for node in job.hosts
            )
            self._set(job, 1 / (cpu * processing + (1 - cpu) * communication), job.demand, now)

    def _left(self, node: int) -> float:
        return LINK - self._users.mbps[node]
