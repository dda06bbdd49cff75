"""A job that fits into idle slots and does not start is noticed; one that does not fit is not."""

import types

import testtools

from nova_twotier.db.states import JobState
from nova_twotier.tools.faults.fairness import PATIENCE, Fairness
from tests.unit.replay.fakes import FG, sample


def job(number, size, **values):
    defaults = {"held": False, "not_before": 0.0, "state": JobState.QUEUED}
    return types.SimpleNamespace(
        number=number, size=size, name=f"job-{number}", **{**defaults, **values}
    )


class TestFairness(testtools.TestCase):
    """Two hosts with two slots each, one of them taken."""

    def longest(self, *looks, left_out=frozenset()):
        fairness = Fairness(left_out)
        for at, jobs in looks:
            waiting = [each for each in jobs if each.state == JobState.QUEUED]
            poll = types.SimpleNamespace(waiting=waiting, jobs=dict(enumerate(jobs)))
            seen = sample(at, (9, 0, "h1", FG))
            fairness.see(types.SimpleNamespace(sample=seen, poll=poll))
        return fairness.longest, bool(fairness.problems())

    def test_the_longest_wait_in_a_row(self):
        small, gone = [job(1, 3)], []
        looks = [(1, small), (5, small), (6, gone), (7, small), (9, small)]
        self.assertEqual((4, False), self.longest(*looks))
        waits = [(at, small) for at in range(PATIENCE + 2)]
        self.assertEqual((PATIENCE, False), self.longest(*waits[:-1]))
        self.assertEqual((PATIENCE + 1, True), self.longest(*waits))

    def test_who_does_not_count(self):
        for jobs in (
            [job(1, 4)],
            [job(1, 3, held=True)],
            [job(1, 3, not_before=1000.0)],
            [job(1, 2), job(2, 2, state=JobState.STARTING)],
        ):
            self.assertEqual((0, False), self.longest((0, jobs), (100, jobs)))
        hostile = self.longest((0, [job(1, 1)]), (100, [job(1, 1)]), left_out={"job-1"})
        self.assertEqual((0, False), hostile)
