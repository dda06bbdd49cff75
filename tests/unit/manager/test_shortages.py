"""Who waits when a project has used up its quota."""

import testtools

from nova_twotier.core.reasons import waits
from nova_twotier.db.states import JobState
from nova_twotier.manager import shortages
from nova_twotier.manager.shortages import HEAD_START, Shortages
from tests.unit.manager.builders import FAILS, job

QUOTA = waits.QUOTA(resources="cores")
NOW = 100.0


def waiting(project="p", **values):
    defaults = {"state": JobState.QUEUED, "tier": None, "project_id": project, "trust_id": "t"}
    return job(**{**defaults, **values})


class TestShortages(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.shortages = Shortages()
        self.refused = self.refuse(110.0)

    def refuse(self, until, **values):
        return waiting(reason=QUOTA, not_before=until, setbacks=1, **values)

    def wait(self, *others, now=NOW):
        """Until when jobs back off, each after it was asked."""
        jobs = [self.refused, *others]
        self.shortages.follow(jobs, now)
        return self.shortages.waiting(jobs, now)

    def test_jobs_of_the_project_that_need_as_much(self):
        """They come after the one that was refused: it tries alone."""
        for size in (2, 3):
            other = waiting(size=size)
            self.assertEqual({other.number: 110.0 + HEAD_START}, self.wait(other))
            self.assertEqual(QUOTA, other.reason)

    def test_jobs_that_the_quota_is_too_small_for(self):
        self.refused.reason = waits.QUOTA_TOO_SMALL(resource="instances", limit=1)
        larger, smaller = waiting(size=3), waiting(size=1)
        self.assertEqual({larger.number: 110.0 + HEAD_START}, self.wait(larger, smaller))
        self.assertEqual(self.refused.reason, larger.reason)

    def test_nobody_else(self):
        for other in (
            waiting(project="other"),
            waiting(trust_id=None),
            waiting(size=1),
            waiting(flavor="small"),
            waiting(saved=True),
            waiting(state=JobState.RUNNING),
            waiting(held=True),
            waiting(gated=True),
        ):
            self.assertEqual({}, self.wait(other))
            self.assertIsNone(other.reason)

    def test_without_trusts_all_are_the_managers_own(self):
        self.refused.trust_id = None
        other = waiting(project="other", trust_id=None)
        self.assertIn(other.number, self.wait(other))

    def test_it_ends_although_nobody_says_so(self):
        other = waiting()
        self.wait(other)
        self.refused.reason = FAILS
        self.assertEqual([other.number], list(self.wait(other, now=114.0)))
        self.assertEqual({}, self.wait(other, now=115.0))

    def test_nobody_waits_for_one_that_has_started_or_is_over(self):
        other = waiting()
        self.wait(other)
        self.refused.reset_backoff()
        self.assertEqual({}, self.wait(other))
        self.refused = self.refuse(110.0)
        self.assertIn(other.number, self.wait(other))
        self.refused.state = JobState.CANCELLED
        self.assertEqual({}, self.wait(other))

    def test_of_two_that_were_refused_one_is_first(self):
        last = self.refuse(112.0)
        self.assertEqual({self.refused.number: 112.0 + HEAD_START}, self.wait(last))
        self.refused.not_before = 112.0
        self.assertEqual([self.refused.number], list(self.wait(last)))

    def test_smaller_ones_that_were_refused_do_not_wait_for_larger_ones(self):
        small = self.refuse(105.0, size=1)
        self.assertEqual({self.refused.number: 105.0 + HEAD_START}, self.wait(small))

    def test_who_is_told_why(self):
        others = [waiting() for _each in range(shortages.AT_ONCE + 1)]
        self.assertEqual(len(others), len(self.wait(*others)))
        self.assertEqual([None], [each.reason for each in others if each.reason != QUOTA])
        self.wait(*others)
        self.assertEqual([], [each for each in others if each.reason != QUOTA])
