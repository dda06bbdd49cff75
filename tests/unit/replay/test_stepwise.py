"""One event at a time, at the times of the guests' clock."""

import testtools

from nova_twotier.tools.replay import stepwise
from nova_twotier.tools.replay.roster import Entry, Roster
from nova_twotier.tools.replay.workload import ReplayJob
from tests.unit.replay.fakes import FG, sample


class World:
    """Two hosts, one job at a time; each settles at once."""

    def __init__(self):
        self.log = []
        self.waiting, self.running = [], []

    def submit(self, job, now):
        self.log.append((now, "submit", job.trace_number))
        self.waiting.append(job.trace_number)
        return Entry(job.trace_number, f"u{job.trace_number}", job)

    def stop(self, servers, now):
        [server] = servers
        self.log.append((now, "stop", int(server.job[1:])))
        self.running.clear()

    def settle(self):
        if self.waiting and not self.running:
            self.running.append(self.waiting.pop(0))
        return sample(0, *((number, 0, "h1", FG) for number in self.running))


def job(number, submit, runtime):
    return ReplayJob(number, f"job-{number}", submit, runtime, None, 1, (0.5,))


class TestStepwise(testtools.TestCase):
    def play(self, *jobs):
        world = World()
        stepwise.play(jobs, Roster(), world)
        return world.log

    def test_arrivals_and_ends(self):
        self.assertEqual(
            [
                (10, "submit", 1),
                (30, "submit", 2),
                (110, "stop", 1),
                (160, "stop", 2),
                (200, "submit", 3),
                (207, "stop", 3),
            ],
            self.play(job(1, 9.5, 100), job(2, 30, 50), job(3, 200, 6.2)),
        )

    def test_no_two_events_at_once(self):
        log = self.play(job(1, 10, 20), job(2, 10, 5), job(3, 30, 5))
        self.assertEqual([10, 11, 30, 31, 36, 41], [at for at, _what, _job in log])

    def test_a_job_that_never_starts(self):
        world = World()
        world.settle = sample_of_nothing
        stepwise.play([job(1, 0, 10)], Roster(), world)
        self.assertEqual([(1, "submit", 1)], world.log)


def sample_of_nothing():
    return sample(0)
