"""Which past jobs count as similar, and how many are kept."""

import testtools

from nova_twotier.core.prediction.history import ENOUGH, OF_USER, History
from tests.unit.core.builders import job


def asks(size=4, request=600.0):
    return job(1, size, estimate=request)


class TestSimilar(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.history = History()

    def add(self, user, size, request, *seconds):
        for value in seconds:
            self.history.add(asks(size, request), user, value)

    def similar(self, user="ann", size=4, request=600.0, beyond=-1.0):
        return self.history.similar(asks(size, request), user, beyond)

    def test_nothing_is_known(self):
        self.assertEqual([], self.similar())

    def test_the_most_similar_of_which_there_are_enough(self):
        self.add("bob", 64, 3600.0, 1, 2, 3, 4)
        self.assertEqual([1, 2, 3, 4], self.similar())
        self.add("bob", 3, 600.0, 5, 6, 7)
        self.assertEqual([5, 6, 7], self.similar())
        self.add("ann", 8, 60.0, 9, 8, 10)
        self.assertEqual([8, 9, 10], self.similar())
        self.add("ann", 8, 600.0, 11, 12, 13)
        self.assertEqual([11, 12, 13], self.similar())
        self.add("ann", 4, 600.0, 14, 15)
        self.assertEqual([11, 12, 13, 14, 15], self.similar())
        self.add("ann", 4, 600.0, 16)
        self.assertEqual([14, 15, 16], self.similar())

    def test_only_what_ran_longer_than_it_has(self):
        self.add("bob", 64, 60.0, 500, 600)
        self.add("ann", 4, 600.0, *[10] * 20, 100, 200, 300)
        self.assertEqual([100, 200, 300], self.similar(beyond=50))
        self.assertEqual([300, 500, 600], self.similar(beyond=250))
        self.assertEqual([600], self.similar(beyond=550))
        self.assertEqual([], self.similar(beyond=600))

    def test_recent_jobs_count(self):
        self.add("ann", 4, 600.0, *range(100))
        self.assertEqual(list(range(100 - OF_USER, 100)), self.similar())

    def test_a_new_job_counts_at_once(self):
        self.add("ann", 4, 600.0, 3, 1, 2)
        self.assertEqual([1, 2, 3], self.similar())
        self.similar().clear()
        self.add("ann", 4, 600.0, 0)
        self.assertEqual([0, 1, 2, 3], self.similar())

    def test_forgets_kinds_that_have_no_new_jobs(self):
        self.history = History(most_kinds=7)
        self.add("ann", 4, 600.0, *[1] * ENOUGH)
        self.add("bob", 8, 60.0, *[2] * ENOUGH)
        self.assertEqual([2] * ENOUGH, self.similar("bob", 8, 60.0))
        self.assertEqual([1, 1, 1, 2, 2, 2], self.similar("ann"))

    def test_forgets_kinds_that_were_asked_for(self):
        self.history = History(most_kinds=7)
        self.add("ann", 4, 600.0, *[1] * ENOUGH)
        self.assertEqual([1, 1, 1], self.similar("ann"))
        self.add("bob", 8, 60.0, *[2] * ENOUGH)
        self.assertEqual([1, 1, 1, 2, 2, 2], self.similar("ann"))

    def test_jobs_of_unknown_users_are_not_of_one_user(self):
        self.add(None, 4, 3600.0, 1, 2, 3)
        self.add("bob", 4, 600.0, 4, 5, 6)
        self.assertEqual([4, 5, 6], self.similar(user=None))

    def test_jobs_without_a_request_are_alike(self):
        self.add("ann", 4, None, 1, 2, 3)
        self.add("ann", 4, 600.0, 4, 5, 6)
        self.assertEqual([1, 2, 3], self.similar(request=None))


class TestShares(testtools.TestCase):
    """Jobs that asked for another time count by the share of it that they used."""

    def setUp(self):
        super().setUp()
        self.history = History(shares=True)

    def add(self, request, *seconds, user="ann", size=4):
        for value in seconds:
            self.history.add(asks(size, request), user, value)

    def similar(self, request=600.0, beyond=-1.0, user="ann"):
        return self.history.similar(asks(4, request), user, beyond)

    def test_of_other_requests(self):
        self.add(3600.0, 360, 1800, 3600)
        self.assertEqual([60, 300, 600], self.similar())
        self.assertEqual([300, 600], self.similar(beyond=100))
        self.assertEqual([60, 300, 600], self.similar(user="bob"))

    def test_of_the_same_request(self):
        self.add(3600.0, 3, 30, 300)
        self.add(600.0, 7, 77, 777)
        self.assertEqual([7, 77, 777], self.similar())

    def test_a_job_that_asks_for_nothing_is_compared_by_time(self):
        self.add(3600.0, 360, 1800, 3600)
        for nothing in (None, 0.0):
            self.assertEqual([360, 1800, 3600], self.similar(request=nothing))

    def test_past_jobs_that_asked_for_nothing_are_compared_by_time(self):
        self.add(None, 10, 20)
        self.add(1200.0, 100, 200, 300, user="bob")
        self.assertEqual([50, 100, 150], self.similar())
        self.add(None, 30)
        self.assertEqual([10, 20, 30], self.similar())
        self.add(3600.0, 360, 1800, 3600, size=1)
        self.assertEqual([60, 300, 600], self.similar())

    def test_of_jobs_that_asked_for_a_time_only_the_share_counts(self):
        self.add(3600.0, 360, 1800)
        self.assertEqual([300], self.similar(beyond=100))
        self.assertEqual([], self.similar(beyond=300))
