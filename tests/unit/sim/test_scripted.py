"""Jobs arrive and end as the script says, and the policy decides what it decides."""

import random

import testtools

from nova_twotier.core import policies
from nova_twotier.core.actions import BG, FG, Evict, Move, Start
from nova_twotier.core.cluster import Host
from nova_twotier.core.embedding import Topology
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.jobs import Job
from nova_twotier.core.linked import Linked
from nova_twotier.core.progress import Progress
from nova_twotier.sim import engine, scripted
from nova_twotier.sim.execution import Execution
from nova_twotier.sim.recorder import Recorder
from nova_twotier.sim.shared import Shared


def cluster(hosts=2, slots=1):
    return Hosts([Host(f"host{index}", slots) for index in range(hosts)])


def jobs(*rows):
    """Jobs numbered from 1; a row is arrival, and the CPU utilisations of the processes."""
    return [
        Job(number, len(cpu), float(arrival), tuple(cpu))
        for number, (arrival, cpu) in enumerate(rows, start=1)
    ]


def decide(policy, arrivals, ends, *rest, on=None):
    """What is decided, as `(at, kind, job, tier)`."""
    decided = scripted.decide(arrivals, ends, policies.get(policy), on or cluster(), *rest)
    return [
        (at, type(action), action.job.number, action.tier)
        for at, actions in decided
        for action in actions
    ]


class Logged(Shared):
    """The simulator's own running jobs, whose decisions and ends are kept."""

    def __init__(self, *args):
        super().__init__(*args)
        self.log = []

    def carry_out(self, actions, waiting, now):
        self.log.append((now, tuple(actions)))
        super().carry_out(actions, waiting, now)


class TestScripted(testtools.TestCase):
    def test_jobs_end_when_they_are_told_to(self):
        arrivals = jobs((0, [0.5, 0.5]), (10, [0.5, 0.5]), (20, [0.5]))
        self.assertEqual(
            [
                (0, Start, 1, FG),
                (10, Start, 2, BG),
                (100, Move, 2, FG),
                (100, Start, 3, BG),
                (150, Move, 3, FG),
            ],
            decide("amcbf", arrivals, {1: 100, 2: 150, 3: 160}),
        )

    def test_an_end_that_cannot_be(self):
        arrivals = jobs((0, [1.0, 1.0]), (10, [1.0]))
        error = self.assertRaises(scripted.Diverged, decide, "fcfs", arrivals, {1: 100, 2: 50})
        self.assertEqual("job 2 ends at 50 s, but does not run", str(error))
        self.assertEqual([0], [at for at, _actions in error.decisions])

    def test_a_script_that_breaks_off(self):
        arrivals = jobs((0, [1.0, 1.0]), (10, [1.0]), (20, [1.0]))
        self.assertEqual(
            [(0, Start, 1, FG), (50, Start, 2, FG), (50, Start, 3, FG)],
            decide("fcfs", arrivals, {1: 50, 3: 60}),
        )

    def test_where_they_were_put(self):
        """A hot job above one in the background, which has to leave: the policy is asked again."""
        arrivals = jobs((0, [0.5] * 2), (1, [0.5] * 3), (2, [1.0]))
        ends = {1: 50, 2: 60, 3: 70}
        as_thought = [(0, Start, 1, FG), (1, Start, 2, BG), (2, Start, 3, FG)]
        hosts = {2: [(0, 1, 2)]}
        decided = decide("amcbf", arrivals, ends, hosts, on=cluster(hosts=4))
        self.assertEqual(as_thought, [one for one in decided if one[0] < 50])
        hosts = {2: [(0, 1, 2)], 3: [(2,)]}
        decided = decide("amcbf", arrivals, ends, hosts, on=cluster(hosts=4))
        self.assertEqual(
            [*as_thought, (2, Evict, 2, BG), (2, Start, 2, BG)],
            [one for one in decided if one[0] < 50],
        )

    def test_a_network_that_never_takes_a_job(self):
        """It is not shown to the policy, and so holds up nobody."""
        hosts = [Host(name, 1) for name in "abc"]
        network = Topology.from_paths(dict.fromkeys("abc", "core"), dict.fromkeys("abc", 100))
        rows = [(1, 2, 100), (2, 2, 101), (3, 2, 100), (4, 1, 100)]
        arrivals = [
            Job(number, size, float(number), (0.5,) * size, mbps=mbps)
            for number, size, mbps in rows
        ]
        self.assertEqual(
            [(1, Start, 1, FG), (9, Start, 3, FG), (9, Start, 4, FG)],
            decide("fcfs", arrivals, {1: 9, 3: 20, 4: 30}, on=Linked(hosts, network)),
        )

    def test_stays_are_recorded(self):
        recorder = Recorder()
        decide("amcbf", jobs((0, [0.5]), (5, [0.5])), {1: 30, 2: 40}, {2: [(1,)]}, recorder)
        self.assertEqual(
            [(1, 0, FG, 0, 30), (2, 1, FG, 5, 40)],
            [(stay.job, stay.slot, stay.tier, stay.begin, stay.end) for stay in recorder.stays()],
        )


class TestAnySimulation(testtools.TestCase):
    """Fed with the ends of a simulation, the policy decides as it did in it."""

    def test_same_decisions(self):
        draw = random.Random(3)
        arrivals = jobs(
            *(
                (at * 20, [draw.choice((0.3, 0.6, 1.0))] * draw.choice((1, 1, 2, 4)))
                for at in range(60)
            )
        )
        for policy in ("amcbf", "cmcbf", "acfcfs"):
            on = cluster(hosts=3, slots=2)
            running = Logged(0.0, on, Progress(), random.Random(1))
            executions = [Execution(job, job.cpu, draw.uniform(20, 300)) for job in arrivals]
            done = engine.run(executions, policies.get(policy), on, running)
            ends = {job.job.number: job.finish for job in done}
            self.assertEqual(
                running.log,
                scripted.decide(arrivals, ends, policies.get(policy), cluster(hosts=3, slots=2)),
            )
            kinds = {type(action) for _at, actions in running.log for action in actions}
            self.assertIn(Move, kinds, policy)
