"""The state of a queue can be taken at any time while a manager works, and is never contradictory.

It reads the database, Placement and Nova as they are between any two polls, with actions under way.
"""

import json
import random
from collections import Counter

from nova_twotier.core import queue_state
from nova_twotier.db import drains
from nova_twotier.db.models import Drain
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


class TestHosts(InMemoryTestCase):
    def state(self):
        now = lambda: self.now  # noqa: E731
        return take(self.store, self.nova, self.ledger, self.options, "default", now).state

    def test_hosts_that_take_nothing_new(self):
        """One is drained; one has left its aggregate, and a job is still there."""
        self.cloud(seed=1)
        engine = self.engine("fcfs")
        self.store.submit(6, [0.5] * 6, at=self.now)
        self.rounds(engine, 6)
        self.assertEqual([(3, True)] * 2, [(h.slots, h.enabled) for h in self.state().hosts])
        drains.drain(self.store, Drain(host="host0", since=0.0, reason="", migrate=False))
        self.nova.left.add("host1")
        state = self.state()
        self.assertEqual([(3, False)] * 2, [(h.slots, h.enabled) for h in state.hosts])
        self.assertEqual((frozenset({1}), 3), (state.leaving, state.slots))
        self.assertEqual((3, 3), tuple(Counter(state.jobs[0].hosts)[host] for host in (0, 1)))
        self.assertEqual(state, queue_state.load(json.loads(queue_state.text(state))))
