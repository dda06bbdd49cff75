"""Fair share in the simulator: who waits for whom, and what it leaves as it is."""

import dataclasses
import pathlib

import pandas
import testtools

from nova_twotier.core import policies
from nova_twotier.core.fair_share import InvalidFairShare
from nova_twotier.sim import metrics, user_waits
from nova_twotier.sim.scenario import InvalidScenario, Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads import catalogue
from nova_twotier.sim.workloads.workload import Submission, Workload

FILE = pathlib.Path(__file__).parent / "data" / "lublin-600.swf"
#: Parameters with which use of minutes matters.
QUICK = {"fair_share": "user", "half_life": 100.0, "longest_offset": 1000.0}


def starts(policy, *rows, size=1, **options):
    """When each job starts, if one at a time has the foreground; a row is arrival, runtime, user,
    group."""
    made = [
        Submission(number, arrival, size, runtime, runtime, user, group)
        for number, (arrival, runtime, user, group) in enumerate(rows, start=1)
    ]
    scenario = Scenario(policy, **{**QUICK, **options})
    found = simulate(Workload("t", size, tuple(made)), scenario).jobs
    return found.set_index("job")["start"].to_dict()


def excerpt(count=300, users=7):
    """A workload with users of whom some submit much more than others."""
    workload = catalogue.load(str(FILE)).head(count)
    jobs = tuple(
        job._replace(user=min(job.number % 13, users - 1), group=job.number % 2)
        for job in workload.jobs
    )
    return dataclasses.replace(workload, jobs=jobs)


class TestOrder(testtools.TestCase):
    #: User 1 holds the node when both users submit another job.
    ROWS = ((0.0, 100.0, 1, 1), (10.0, 10.0, 1, 1), (20.0, 10.0, 2, 1))

    def test_who_has_used_nothing_goes_first(self):
        self.assertEqual({1: 0, 2: 100, 3: 110}, starts("fcfs", *self.ROWS, fair_share=None))
        self.assertEqual({1: 0, 2: 110, 3: 100}, starts("fcfs", *self.ROWS))

    def test_by_group(self):
        """Both users belong to one group: none of them is preferred."""
        self.assertEqual({1: 0, 2: 100, 3: 110}, starts("fcfs", *self.ROWS, fair_share="group"))

    def test_jobs_of_nobody_are_placed_by_arrival(self):
        rows = (*self.ROWS[:2], (20.0, 10.0, -1, -1))
        self.assertEqual({1: 0, 2: 110, 3: 100}, starts("fcfs", *rows))

    def test_the_background_counts_less(self):
        """User 1's second job runs in the background beside user 2's; user 1 has used less."""
        rows = (
            (0.0, 400.0, 2, 1),
            (0.0, 400.0, 1, 1),
            (200.0, 10.0, 2, 1),
            (201.0, 10.0, 1, 1),
        )
        for weight, first in ((0.0, 4), (1.0, 3)):
            found = starts("amcbf", *rows, size=2, background_weight=weight)
            self.assertEqual(first, min((3, 4), key=found.get), weight)

    def test_an_arrival_ahead_of_a_running_job_preempts_it_at_once(self):
        rows = ((0.0, 100.0, 1, 1), (90.0, 50.0, 1, 1), (110.0, 10.0, 2, 1))
        self.assertEqual({1: 0, 2: 100, 3: 110}, starts("cmbf", *rows))
        self.assertEqual({1: 0, 2: 100, 3: 150}, starts("cmbf", *rows, fair_share=None))


class TestAllPolicies(testtools.TestCase):
    def test_without_an_offset_nothing_changes(self):
        workload = excerpt(150)
        for name in policies.POLICIES:
            plain = simulate(workload, Scenario(name))
            shared = simulate(workload, Scenario(name, fair_share="user", longest_offset=0.0))
            self.assertTrue(plain.jobs.equals(shared.jobs), name)

    def test_every_job_ends_and_the_order_matters(self):
        workload, same = excerpt(), []
        for name in policies.POLICIES:
            plain = simulate(workload, Scenario(name)).jobs
            shared = simulate(workload, Scenario(name, fair_share="user")).jobs
            self.assertEqual(len(workload.jobs), len(shared), name)
            self.assertTrue((shared["finish"] >= shared["arrival"] + shared["runtime"]).all(), name)
            if plain["start"].equals(shared["start"]):
                same.append(name)
        # Ordered by estimate, size or bandwidth; here nobody asks for bandwidth.
        self.assertLessEqual(set(same), {"sdf", "smjf"})

    def test_nobody_is_passed_by_those_that_come_much_later(self):
        longest = 7200.0
        shared = simulate(
            excerpt(), Scenario("fcfs", fair_share="user", longest_offset=longest)
        ).jobs.sort_values("start", kind="stable")
        arrived = shared["arrival"]
        # The earliest arrival among those that start after each job.
        earliest = arrived[::-1].cummin()[::-1]
        self.assertLessEqual((arrived - earliest).max(), longest)
        self.assertGreater((arrived - earliest).max(), 0)


class TestBadInput(testtools.TestCase):
    def test_scenario(self):
        self.assertRaises(InvalidScenario, Scenario, "easy", fair_share="project")
        self.assertRaises(InvalidScenario, Scenario, "fcfs", fair_share="user", queueing=False)
        self.assertRaises(InvalidFairShare, Scenario, "easy", half_life=0.0)
        self.assertRaises(InvalidFairShare, Scenario, "easy", longest_offset=-1.0)

    def test_a_workload_without_users(self):
        workload = catalogue.load("lublin:5")
        for by in ("user", "group"):
            error = self.assertRaises(
                InvalidScenario, simulate, workload, Scenario("easy", fair_share=by)
            )
            self.assertIn(f"has no {by}s for fair share; take a trace with them", str(error))


class TestUserWaits(testtools.TestCase):
    def test_the_heaviest_tenth_and_the_others(self):
        # Twenty users: users 0 and 1 have the most work.
        jobs = tuple(
            Submission(number, 0.0, 1, 100.0 - user, 1.0, user)
            for number, user in enumerate([0, 1, *range(20)])
        )
        workload = Workload("t", 1, (*jobs, Submission(99, 0.0, 9, 999.0, 1.0, -1)))
        self.assertEqual([0, 1], user_waits.heaviest(workload))
        frame = pandas.DataFrame(
            {"job": [job.number for job in workload.jobs], "arrival": 0.0, "runtime": 1.0}
        )
        waits = [10.0, 20.0, 30.0, 40.0, *[1.0] * 18, 5000.0]
        frame["finish"] = frame["runtime"] + pandas.Series(waits)
        found = user_waits.summarise(metrics.per_job(frame), workload)
        self.assertEqual(25.0, found[user_waits.HEAVY])
        self.assertEqual(1.0, found[user_waits.OTHERS])
        self.assertAlmostEqual((20 + 30 + 18) / 20, found[user_waits.MEAN_USER])
        self.assertGreater(found[user_waits.P90_USER], 1.0)
