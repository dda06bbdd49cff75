"""The policy of a pool changes while its jobs run: each ends, and no slot is held by two."""

import itertools
import random
import types

from nova_twotier.core import policies
from nova_twotier.db.states import JobState, Preemption
from tests.functional.manager_case import InMemoryTestCase, ManagerTestCase

#: Polls between two changes: enough for some decisions to be carried out, and not for all.
BETWEEN = 6
NAMES = sorted(policies.POLICIES)


class Changing(ManagerTestCase):
    """Plays random jobs under policies that change; each change begins with a new engine."""

    def setUp(self):
        super().setUp()
        self.used, self.polls = [], 0

    def engine(self, policy):
        """The policy is ignored: those of `self.names` take turns."""
        self.present = super().engine(next(self.names) if not self.used else self.used[-1])
        return types.SimpleNamespace(poll=self.poll)

    def poll(self):
        self.polls += 1
        if self.polls % BETWEEN == 0:
            self.present.close()
            name = next(self.names)
            self.used.append(name)
            self.present = super().engine(name)
        return self.present.poll()

    def play_random(self, seed, names, **faults):
        chosen = random.Random(seed)
        self.names, self.used, self.polls = itertools.cycle(names), [], 0
        self.cloud(seed, **faults)
        arrivals = [
            (
                chosen.randrange(40),
                chosen.randint(1, 5),
                chosen.choice((0.2, 0.5, 0.9, 1.0)),
                chosen.choice(list(Preemption)),
            )
            for _job in range(8)
        ]
        arrivals.sort(key=lambda arrival: arrival[0])
        lives = [chosen.randint(5, 25) for _job in arrivals]
        jobs = self.play("", arrivals, lives)
        self.assertEqual({JobState.FINISHED}, {job.state for job in jobs})
        self.assertGreater(len(self.used), 3)
        self.check_clean()


class TestEveryPolicy(InMemoryTestCase, Changing):
    def test_in_any_order(self):
        names = NAMES.copy()
        random.Random(20).shuffle(names)
        self.play_random(20, names)

    def test_managers_that_crash(self):
        self.play_random(21, NAMES, failures=0.02, crashes=0.02)


class TestFamilies(InMemoryTestCase, Changing):
    """Two policies of different families in turn."""

    def test_two_tiers_and_one(self):
        self.play_random(1, ("amcbf", "fcfs"))

    def test_two_tiers_and_backfilling_with_reservations(self):
        self.play_random(2, ("cmcbf", "conservative"))

    def test_migrating_and_killing(self):
        self.play_random(3, ("amcbf", "acfcfs"))

    def test_killing_and_one_tier_that_preempts(self):
        self.play_random(4, ("ccfcfs", "cmbf"))

    def test_another_order(self):
        self.play_random(5, ("amcbf-deadline", "amcbf"))

    def test_bandwidth_and_not(self):
        self.play_random(6, ("bgmbf", "ktier-cmbf"))
