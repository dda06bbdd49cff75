"""What all estimators have in common, and how each expects jobs to run."""

import math

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core import policies, prediction
from nova_twotier.core.prediction.estimator import Forward
from nova_twotier.core.prediction.present import Past, Present
from nova_twotier.core.prediction.work_left import UNKNOWN
from nova_twotier.core.snapshot import Snapshot
from tests.unit.core.builders import FG, cluster, job

NAMES = sorted(prediction.ESTIMATORS)
FORWARD = [name for name in NAMES if issubclass(prediction.ESTIMATORS[name], Forward)]
LEARNING = [name for name in FORWARD if name != "requested"]


def past(user, size, request, work, wait=0.0, elapsed=None):
    """Of a job that nobody slowed down, unless `elapsed` differs from `work`."""
    elapsed = work if elapsed is None else elapsed
    return Past(job(1, size, estimate=request), user, wait, elapsed, work)


def present(now=100.0, done=None, users=None):
    """Jobs 1 and 2 on both slots, jobs 3 and 4 waiting for one each."""
    on = cluster(2, tiers=1)
    on.start(job(1, estimate=600), FG)
    on.start(job(2, estimate=60), FG)
    waiting = [job(3, estimate=600), job(4)]
    return Present(Snapshot(on, waiting), policies.get("fcfs"), now, done or {}, users or {})


class TestAll(testtools.TestCase):
    def test_unknown_names_are_refused_with_those_that_exist(self):
        error = self.assertRaises(prediction.UnknownEstimator, prediction.get, "oracle")
        for name in NAMES:
            self.assertIn(name, str(error))

    @given(st.sampled_from(NAMES), st.data())
    def test_answers_for_every_job_whatever_is_known(self, name, data):
        estimator = prediction.get(name)
        requests = st.sampled_from((None, 0.0, 60.0, 600.0))
        times = st.floats(0, 1e5)
        for each in data.draw(
            st.lists(
                st.builds(past, st.sampled_from("ab"), st.integers(1, 9), requests, times, times)
            )
        ):
            estimator.learn(each)
        users = {1: "a", 3: "b"}
        done = {1: data.draw(times), 2: data.draw(times)}
        here = present(done=done, users=users)
        found = estimator.predict(here)
        self.assertEqual({1, 2, 3, 4}, set(found))
        for each in found.values():
            self.assertLessEqual(here.now, each.start)
            self.assertLessEqual(each.start, each.finish)
            self.assertLess(each.finish, math.inf)
        for number in found:
            self.assertEqual(found[number], estimator.predict(here, number)[number])

    @given(st.sampled_from(FORWARD), st.floats(0, 1e5), st.floats(0, 1e5))
    def test_no_job_runs_for_less_than_it_has_run_or_more_than_it_asks(self, name, work, done):
        estimator = prediction.get(name)
        for _each in range(5):
            estimator.learn(past("ann", 1, 600.0, work))
        expected = estimator.run_time(job(9, estimate=600.0), "ann", done)
        self.assertLessEqual(done, expected)
        self.assertLessEqual(expected, max(600.0, done))


class TestRunTimes(testtools.TestCase):
    def expected(self, name, *known, user="ann", size=4, request=600.0, done=0.0):
        estimator = prediction.get(name)
        for each in known:
            estimator.learn(past(*each))
        return estimator.run_time(job(9, size, estimate=request), user, done)

    def test_nothing_known(self):
        for name in FORWARD:
            self.assertEqual(600, self.expected(name), name)
            self.assertEqual(UNKNOWN, self.expected(name, request=None), name)

    def test_requested_learns_nothing(self):
        self.assertEqual(600, self.expected("requested", *[("ann", 4, 600.0, 10)] * 5))

    def test_similar_jobs_of_the_same_user(self):
        known = [("ann", 4, 600.0, 100)] * 4 + [("bob", 64, 3600.0, 500)] * 4
        for name in LEARNING:
            self.assertLess(self.expected(name, *known), 200, name)

    def test_a_job_that_runs_longer_than_most_is_compared_with_those_that_did(self):
        known = [("ann", 4, 600.0, 10)] * 9 + [("ann", 4, 600.0, 400)] * 3
        for name in LEARNING:
            self.assertLess(self.expected(name, *known), 150, name)
            self.assertAlmostEqual(400, self.expected(name, *known, done=50.0), msg=name)

    def test_an_estimate_says_more_than_one_or_two_past_jobs(self):
        for name in ("sdpn", "hanzich"):
            for count, expected, unasked in ((1, 600, 10), (2, 600, 10), (3, 10, 10)):
                known = [("ann", 4, 600.0, 10)] * count
                self.assertEqual(expected, self.expected(name, *known), (name, count))
                self.assertEqual(unasked, self.expected(name, *known, request=None), (name, count))

    def test_smith_believes_the_category_that_varies_least(self):
        known = [("ann", 4, 600.0, each) for each in (10, 500)]
        known += [("ann", 4, 60.0, 100)] * 8
        self.assertLess(abs(100 - self.expected("hybrid-smith", *known)), 50)

    def test_li_weighs_by_distance(self):
        known = [("ann", 4, 600.0, 100)] * 2 + [("bob", 64, 600.0, 500)] * 3
        self.assertLess(self.expected("hybrid-li", *known), 150)

    def test_jobs_of_unknown_users_are_not_of_one_user(self):
        """One job of an unknown user's is as near as one of somebody else's."""
        for name in LEARNING:
            known = [(None, 1, 300.0, 100)] * 6, [("bob", 1, 300.0, 100)] * 6
            others = [("eve", 1, 600.0, 500)] * 6
            unknown, bobs = (self.expected(name, *each, *others, user=None) for each in known)
            self.assertEqual(bobs, unknown, name)


class TestHistorical(testtools.TestCase):
    def test_an_estimate_says_more_than_one_or_two_past_jobs(self):
        estimator = prediction.get("historical")
        for expected in (700, 700, 700, 110):
            finish = estimator.predict(present(now=100.0))[1].finish
            self.assertEqual(expected, finish)
            estimator.learn(past("ann", 1, 600.0, 10.0))

    def test_waits_as_similar_jobs_did_whatever_runs(self):
        estimator = prediction.get("historical")
        for wait in (10, 20, 30):
            estimator.learn(past("ann", 1, 600.0, 200, wait=wait))
        here = present(now=3.0, users={3: "ann"})
        self.assertEqual((23, 223), estimator.predict(here, 3)[3])

    def test_a_job_that_has_waited_is_compared_with_those_that_waited_longer(self):
        estimator = prediction.get("historical")
        for wait in (1, 1, 1, 1, 70, 80, 90):
            estimator.learn(past("ann", 1, 600.0, 200, wait=wait))
        found = estimator.predict(present(now=53.0, users={3: "ann"}), 3)[3]
        self.assertEqual(3 + 80, found.start)

    def test_slowed_down_jobs_count_by_time_before_they_begin_and_then_by_work(self):
        estimator = prediction.get("historical")
        for _each in range(3):
            estimator.learn(past("ann", 1, 20_000.0, 1_000, elapsed=10_000))
        found = estimator.predict(present(done={1: 400.0}, users={1: "ann", 3: "ann"}))
        self.assertEqual((100, 100 + 600), found[1])
        self.assertEqual(10_000, found[3].finish - found[3].start)


class TestWalltime(testtools.TestCase):
    """What a job may run for counts like what it asked for."""

    def start_of_the_next(self, name, **asked):
        on = cluster(1, tiers=1)
        on.start(job(1, **asked), FG)
        shown = Present(Snapshot(on, [job(2)]), policies.get("fcfs"), 0.0)
        return prediction.get(name).predict(shown)[2].start

    def test_without_an_estimate(self):
        for name in FORWARD:
            self.assertEqual(600.0, self.start_of_the_next(name, walltime=600.0), name)
            self.assertEqual(
                300.0, self.start_of_the_next(name, walltime=600.0, estimate=300.0), name
            )
            self.assertEqual(UNKNOWN, self.start_of_the_next(name), name)
