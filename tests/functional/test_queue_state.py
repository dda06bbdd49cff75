"""The state of a queue can be taken at any time while a manager works, and is never contradictory.

It reads the database, Placement and Nova as they are between any two polls, with actions under way.
"""

import json
import random

from nova_twotier.core import queue_state
from nova_twotier.db.states import OVER, JobState, Preemption
from nova_twotier.manager.queue_state import take
from nova_twotier.sim import what_if
from tests.functional.manager_case import InMemoryTestCase

JOBS = 14
STARTED = (JobState.STARTING, JobState.RESTORING)


class TestAtAnyTime(InMemoryTestCase):
    def others(self, at):
        """Between two polls: Nova is doing what the last one asked for."""
        opened = {job.number: job for job in self.store.jobs() if job.state not in OVER}
        before = dict(self.ledger.consumers), self.ledger_generations()
        taken = take(self.store, self.nova, self.ledger, self.options, "default", lambda: self.now)
        self.assertEqual(before, (dict(self.ledger.consumers), self.ledger_generations()))
        # Reading it checks that no slot is given twice.
        state = queue_state.load(json.loads(queue_state.text(taken.state)))
        self.assertEqual(taken.state, state)
        known = {each.job.number: each for each in state.jobs}
        self.assertLessEqual(known.keys(), opened.keys())
        for number, job in opened.items():
            if job.state == JobState.QUEUED and not job.requested_action:
                self.assertIn(number, known)
            if number in known and known[number].tier is not None:
                self.assertEqual(job.size, len(known[number].hosts))
                self.seen_starting += job.state in STARTED
        # All of them get their turn and end: nothing that is about to leave stays in the way.
        expected = what_if.expect(state)
        self.assertTrue(all(each.finish < 1e9 for each in expected.values()), expected)
        self.taken += 1

    def ledger_generations(self):
        return {uuid: provider.generation for uuid, provider in self.ledger.providers.items()}

    def run_(self, policy, seed):
        self.taken = self.seen_starting = 0
        self.cloud(seed)
        draw = random.Random(seed)
        arrivals = [
            (
                at,
                draw.randint(1, self.HOSTS * self.SLOTS),
                draw.choice([0.4, 0.7, 0.99]),
                draw.choice(list(Preemption)),
            )
            for at in sorted(draw.randint(0, 35) for _job in range(JOBS))
        ]
        lives = [draw.randint(1, 12) for _job in range(JOBS)]
        self.play(policy, arrivals, lives)
        self.assertGreater(self.taken, 30)
        self.assertGreater(self.seen_starting, 0)

    def test_amcbf(self):
        self.run_("amcbf", 1)

    def test_acfcfs(self):
        self.run_("acfcfs", 2)
