"""Classes of service in the queue manager's decisions."""

from nova_twotier.core.actions import BG, FG
from nova_twotier.core.qos import SCAVENGER, URGENT
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.manager.priorities import exchange
from tests.unit.manager.builders import hosts, job, servers
from tests.unit.manager.decision_case import DecisionCase, waiting

EVICT, START, SWAP = ActionKind.EVICT, ActionKind.START, ActionKind.SWAP


class TestDecisions(DecisionCase):
    def setUp(self):
        super().setUp()
        self.front = job(2)
        self.scavenger = job(1, tier=BG, qos=SCAVENGER)
        self.gangs = servers(self.front, hosts="ab"), servers(self.scavenger, hosts="b")

    def look(self, decisions, *others, **rest):
        jobs = [self.front, self.scavenger, *others]
        return self.ask(decisions, jobs, *self.gangs, tiers=[FG, BG], **rest)

    def test_makes_way_for_a_job_that_arrives(self):
        decisions = self.decisions()
        self.assertEqual([], self.look(decisions))
        new = waiting(size=2)
        found = self.look(decisions, new)
        self.assertEqual([(EVICT, self.scavenger.number), (START, new.number)], found)

    def test_not_for_its_own_kind(self):
        self.assertEqual([], self.look(self.decisions(), waiting(size=2, qos=SCAVENGER)))

    def test_not_before_its_least_run_time(self):
        self.scavenger.run_since = 990.0
        decisions, new = self.decisions(min_run_time=60.0), waiting(size=2)
        self.assertEqual([], self.look(decisions, new))
        found = self.look(decisions, new, now=1060.0)
        self.assertEqual([(EVICT, self.scavenger.number), (START, new.number)], found)

    def test_urgent_preempts_when_it_arrives(self):
        """It takes the foreground, and the scavenger makes way for who had it, in place."""
        decisions = self.decisions()
        self.assertEqual([], self.look(decisions))
        urgent = waiting(size=2, qos=URGENT)
        found = self.look(decisions, urgent)
        self.assertEqual(
            {EVICT: self.scavenger.number, START: urgent.number, SWAP: None}, dict(found)
        )

    def test_made_normal_it_starts_in_the_foreground(self):
        decisions, look = self.decisions(), {"where": hosts("ab", slots=1, tiers=1), "levels": 1}
        below = waiting(size=1, qos=SCAVENGER)
        self.assertEqual([], self.ask(decisions, [below], **look))
        normal = waiting(size=1, number=below.number)
        self.assertEqual([(START, normal.number)], self.ask(decisions, [normal], **look))

    def test_with_a_flavor_for_the_foreground_only_it_waits_and_says_so(self):
        stuck = waiting(size=1, qos=SCAVENGER)
        stuck.tiers = (FG,)
        self.assertFalse(stuck.plain_waiting)
        self.assertEqual([], self.ask(self.decisions(), [stuck]))
        self.assertIn("its flavor allows the foreground only", str(stuck.reason))

    def test_without_background_it_waits_and_says_so(self):
        below = waiting(size=1, qos=SCAVENGER)
        self.assertEqual([], self.ask(self.decisions("easy"), [below], where=hosts("a", slots=2)))
        self.assertIn("policy easy does not use", str(below.reason))


class TestPriorities(DecisionCase):
    def test_places_are_exchanged_within_a_class(self):
        first, other, last = (
            waiting(project_id="p", qos=qos, priority=priority)
            for qos, priority in ((SCAVENGER, 0), ("normal", 1), (SCAVENGER, 2))
        )
        jobs = {each.number: each for each in (first, other, last)}
        places = {number: each.place for number, each in jobs.items()}
        moved = exchange(jobs, {other.number, last.number})
        self.assertEqual({first.number, last.number}, {each.number for each in moved})
        self.assertEqual(places[other.number], other.place)
        self.assertLess(last.core.order, first.core.order)
        self.assertEqual({JobState.QUEUED}, {each.state for each in jobs.values()})
