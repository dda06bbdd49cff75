"""Who waits when a project has used up its quota."""

import testtools

from nova_twotier.core.reasons import waits
from nova_twotier.db.states import JobState
from nova_twotier.manager.operations.shortage import HEAD_START, back_off_alike
from tests.unit.manager.builders import FAILS, job

QUOTA = waits.QUOTA(resources="cores")


def waiting(project="p", **values):
    defaults = {"state": JobState.QUEUED, "tier": None, "project_id": project, "trust_id": "t"}
    return job(**{**defaults, **values})


class TestShortage(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.refused = waiting(reason=QUOTA, not_before=110.0)

    def back_off(self, other):
        """Until when, and why."""
        back_off_alike(self.refused, [self.refused, other])
        self.assertEqual(110.0, self.refused.not_before)
        return other.not_before, other.reason

    def test_jobs_of_the_project_that_need_as_much(self):
        """They come after the one that was refused: it tries alone."""
        expected = (110.0 + HEAD_START, QUOTA)
        for size in (2, 3):
            self.assertEqual(expected, self.back_off(waiting(size=size)))

    def test_nobody_else(self):
        for other in (
            waiting(project="other"),
            waiting(trust_id=None),
            waiting(size=1),
            waiting(flavor="small"),
            waiting(saved=True),
            waiting(state=JobState.RUNNING),
        ):
            self.assertEqual((0.0, None), self.back_off(other))

    def test_without_trusts_all_are_the_managers_own(self):
        self.refused.trust_id = None
        self.assertEqual(115.0, self.back_off(waiting(project="other", trust_id=None))[0])

    def test_who_is_held_knows_why(self):
        self.assertEqual(
            (115.0, waits.HELD()), self.back_off(waiting(held=True, reason=waits.HELD()))
        )

    def test_tasks_behind_the_limit_of_their_array_are_left_alone(self):
        limit = waits.ARRAY_LIMIT(limit=2)
        self.assertEqual((0.0, limit), self.back_off(waiting(gated=True, reason=limit)))

    def test_who_waits_for_longer(self):
        self.assertEqual((900.0, FAILS), self.back_off(waiting(not_before=900.0, reason=FAILS)))
