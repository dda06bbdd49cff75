"""Which of the waiting jobs learn why they wait, and when."""

from unittest import mock

import testtools

from nova_twotier.core import policies
from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.queue import Queue
from nova_twotier.core.reasons import waits
from nova_twotier.core.snapshot import Snapshot
from nova_twotier.db.states import JobState
from nova_twotier.manager import reasons
from tests.unit.manager.builders import FG, job

#: What a job was told before.
OLD = waits.UNDECIDED()


class TestReasons(testtools.TestCase):
    """One slot under fcfs; the first two jobs and three more learn at each poll."""

    def setUp(self):
        super().setUp()
        for name, value in (("FIRST", 2), ("AT_ONCE", 5)):
            patch = mock.patch.object(reasons, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.reasons = reasons.Reasons(policies.get("fcfs"))
        self.jobs = {}

    def arrive(self, *numbers):
        for number in numbers:
            self.jobs[number] = job(
                number=number, size=2, state=JobState.QUEUED, tier=None, reason=OLD
            )

    def decide(self, started=(), given=(), besides=()):
        """A decision, and the rest of its look."""
        cluster = Hosts([Host("a", 2)])
        queue = Queue(one.core for one in self.jobs.values())
        for number in started:
            cluster.start(self.jobs[number].core, FG)
            queue.remove(self.jobs[number].core)
        self.reasons.renew(Snapshot(cluster, queue), self.jobs, dict(given), dict(besides))
        return self.poll()

    def poll(self):
        """Those who learn why they wait."""
        for one in self.jobs.values():
            one.reason = OLD
        self.reasons.tell(self.jobs)
        return [number for number, one in self.jobs.items() if one.reason != OLD]

    def test_few(self):
        self.arrive(1, 2, 3)
        self.assertEqual([1, 2, 3], self.decide())
        self.assertEqual([], self.poll())

    def test_what_they_learn(self):
        self.arrive(1, 2, 3)
        self.decide(given={3: waits.SUSPENDED_HOSTS()})
        self.assertEqual(
            [waits.SLOTS(size=2, idle=2), waits.TURN(1), waits.SUSPENDED_HOSTS()],
            [one.reason for one in self.jobs.values()],
        )

    def test_planned_maintenance_besides(self):
        """Only of reasons that are about slots."""
        self.arrive(1, 2, 3)
        window = {"barred": 4, "limit": 60, "begin": "2026-01-31T12:00:00+00:00"}
        besides = dict.fromkeys(self.jobs, window)
        for _decision in range(2):
            self.decide(given={3: waits.SUSPENDED_HOSTS()}, besides=besides)
            self.assertEqual(
                [
                    waits.SLOTS(size=2, idle=2, **window),
                    waits.TURN(1, **window),
                    waits.SUSPENDED_HOSTS(),
                ],
                [one.reason for one in self.jobs.values()],
            )
        self.decide()
        self.assertEqual(waits.SLOTS(size=2, idle=2), self.jobs[1].reason)

    def test_many_by_and_by(self):
        self.arrive(*range(1, 13))
        self.assertEqual([1, 2, 3, 4, 5], self.decide())
        self.assertEqual([6, 7, 8, 9, 10], self.poll())
        self.assertEqual([11, 12], self.poll())
        self.assertEqual([], self.poll())

    def test_nobody_is_forgotten_by_frequent_decisions(self):
        self.arrive(*range(1, 13))
        told = [self.decide() for _decision in range(4)]
        self.assertEqual([[1, 2, 3, 4, 5], [1, 2, 6, 7, 8], [1, 2, 9, 10, 11]], told[:3])
        self.assertIn(12, told[3])

    def test_arrivals_come_before_those_who_know_something(self):
        self.arrive(*range(1, 13))
        self.decide()
        self.arrive(13, 14)
        self.assertEqual([1, 2, 6, 13, 14], self.decide())

    def test_who_starts_does_not_wait(self):
        self.arrive(1, 2)
        self.assertEqual([2], self.decide(started=[1]))
        self.assertEqual(waits.TURN(2), self._reason_of_next())

    def _reason_of_next(self):
        self.arrive(3)
        self.decide(started=[1])
        return self.jobs[3].reason

    def test_who_is_preempted_waits_before_the_others_and_learns_nothing_yet(self):
        self.arrive(2, 3)
        evicted = job(number=1, size=2)
        queue = Queue(one.core for one in (evicted, *self.jobs.values()))
        self.reasons.renew(Snapshot(Hosts([Host("a", 2)]), queue), self.jobs, {}, {})
        self.jobs[1] = evicted
        self.assertEqual([2, 3], self.poll())
        self.assertEqual(waits.TURN(1), self.jobs[2].reason)

    def test_who_has_left_meanwhile(self):
        self.arrive(*range(1, 9))
        self.decide()
        del self.jobs[6], self.jobs[7]
        self.assertEqual([8], self.poll())
