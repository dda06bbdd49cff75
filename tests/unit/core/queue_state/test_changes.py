"""What could be different, one change at a time; the state itself stays as it is."""

import testtools

from nova_twotier.core.cluster import Host
from nova_twotier.core.jobs import InvalidJob
from nova_twotier.core.policies import UnknownPolicy
from nova_twotier.core.queue_state import InvalidChange, changes, past_of, with_policy
from tests.unit.core.queue_state.builders import small


class TestChanges(testtools.TestCase):
    def test_another_job_is_the_last_to_arrive(self):
        past = past_of(7, 1, None, None, wait=0.0, elapsed=1.0, work=1.0)
        state, number = changes.add_job(small(past=(past,)), 2, 60.0, 0.9, background=False)
        self.assertEqual(8, number)
        job = state.jobs[-1].job
        self.assertEqual((50.0, (0.9, 0.9), 60.0), (job.arrival, job.cpu, job.estimate))
        self.assertEqual((True, False), (job.foreground, job.background))
        self.assertRaises(InvalidJob, changes.add_job, state, 1, cpu=2.0)
        self.assertRaises(InvalidJob, changes.add_job, state, 10**12)

    def test_jobs(self):
        state = changes.without_job(small(), 1)
        self.assertEqual([2], [each.job.number for each in state.jobs])
        state = changes.with_estimate(small(), 2, 7.0)
        self.assertEqual([150.0, 7.0], [each.job.estimate for each in state.jobs])
        for change in (changes.without_job, lambda s, n: changes.with_estimate(s, n, 1.0)):
            error = self.assertRaises(InvalidChange, change, small(), 3)
            self.assertEqual("job 3 neither waits nor runs in this state", str(error))

    def test_more_hosts_are_like_the_most_frequent_ones(self):
        hosts = (Host("a", 2), Host("new1", 4, 3), Host("c", 4, 3))
        state = changes.add_hosts(small(), 1)
        self.assertEqual((Host("new1", 2), 6), (state.hosts[-1], state.slots))
        state = changes.add_hosts(type(state)(0.0, "fcfs", hosts), 2)
        self.assertEqual([Host("new2", 4, 3), Host("new3", 4, 3)], list(state.hosts[3:]))
        self.assertRaises(InvalidChange, changes.add_hosts, type(state)(0.0, "fcfs", ()), 1)
        error = self.assertRaises(InvalidChange, changes.add_hosts, small(), 10**12)
        self.assertIn("too many: give 100,000 at most in all", str(error))

    def test_hosts_leave_when_they_are_empty(self):
        state = changes.remove_hosts(small(), 1)
        # Host b has one process, a has two.
        self.assertEqual([True, False], [host.enabled for host in state.hosts])
        self.assertEqual((frozenset({1}), 2), (state.leaving, state.slots))
        self.assertEqual(small().jobs, state.jobs)
        error = self.assertRaises(InvalidChange, changes.remove_hosts, state, 2)
        self.assertEqual("2 hosts cannot leave: there are 1", str(error))

    def test_policy(self):
        self.assertEqual("fcfs", with_policy(small(), "fcfs").policy)
        self.assertRaises(UnknownPolicy, with_policy, small(), "sjf")
