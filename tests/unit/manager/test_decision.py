"""What a policy is shown, and when it is asked again."""

import testtools

from nova_twotier.core import policies
from nova_twotier.manager.db.models import ActionKind, JobState
from nova_twotier.manager.decision import ELSEWHERE, Decisions
from tests.unit.manager.builders import BG, FG, action, hosts, job, options, seen, servers


def waiting(**values):
    return job(state=JobState.QUEUED, tier=None, **values)


class DecisionCase(testtools.TestCase):
    """Hosts `a` and `b` of one slot each."""

    def decisions(self, policy="amcbf", **changes):
        return Decisions(policies.get(policy), options(**changes))

    def ask(self, decisions, jobs, *gangs, now=1000.0, tiers=None, opened=(), levels=2):
        """Kind and job of what is decided."""
        look = seen(*gangs, at=now, where=hosts("ab", slots=1, tiers=levels), tiers=tiers)
        records = decisions.decide({one.number: one for one in jobs}, opened, look, now)
        return [(record.kind, record.job) for record in records]


class TestAntiThrash(DecisionCase):
    def setUp(self):
        super().setUp()
        self.first = waiting(number=1, size=2, cpu=1.0)
        self.late = job(number=2, size=1, cpu=1.0, run_since=990.0)
        self.gang = servers(self.late)

    def test_a_job_is_preempted_at_once(self):
        found = self.ask(self.decisions(), [self.first, self.late], self.gang)
        self.assertEqual([(ActionKind.EVICT, 2), (ActionKind.START, 1)], found)

    def test_but_not_before_its_minimum_time(self):
        decisions = self.decisions(min_run_time=30.0)
        jobs = [self.first, self.late]
        self.assertEqual([], self.ask(decisions, jobs, self.gang, now=1000.0))
        self.assertEqual([], self.ask(decisions, jobs, self.gang, now=1019.0))
        found = self.ask(decisions, jobs, self.gang, now=1020.0)
        self.assertEqual([(ActionKind.EVICT, 2), (ActionKind.START, 1)], found)

    def test_nor_soon_after_a_swap(self):
        self.late.swapped_at = 995.0
        decisions = self.decisions(swap_hysteresis=10.0)
        jobs = [self.first, self.late]
        self.assertEqual([], self.ask(decisions, jobs, self.gang, now=1004.0))
        self.assertEqual(2, len(self.ask(decisions, jobs, self.gang, now=1005.0)))

    def test_a_job_that_stays_below_does_not_hold_the_others_up(self):
        """Unlike one that is just starting there: that is over in a moment."""
        below = job(number=5, size=1, cpu=0.5, tier=BG, run_since=990.0)
        hot = waiting(number=6, size=2, cpu=1.0)
        decisions = self.decisions(min_run_time=30.0)
        found = self.ask(decisions, [below, hot], servers(below), tiers=[BG])
        self.assertEqual([(ActionKind.START, 6)], found)


class TestKilling(DecisionCase):
    def test_acfcfs_kills_who_came_later(self):
        first = waiting(number=1, size=2, cpu=1.0)
        late = job(number=2, size=1, cpu=1.0, run_since=1.0)
        found = self.ask(self.decisions("acfcfs"), [first, late], servers(late), levels=1)
        self.assertEqual([(ActionKind.EVICT, 2), (ActionKind.START, 1)], found)

    def test_ccfcfs_starts_anew_in_the_foreground(self):
        """A trial in the background whose own slot is taken, when another slot is free."""
        front = job(number=1, size=1, cpu=0.5)
        trial = job(number=2, size=1, cpu=0.5, tier=BG)
        found = self.ask(
            self.decisions("ccfcfs"),
            [front, trial],
            servers(front, hosts=("a",)),
            servers(trial, hosts=("a",)),
            tiers=[FG, BG],
        )
        self.assertEqual([(ActionKind.EVICT, 2), (ActionKind.START, 2)], found)


class TestSuspended(DecisionCase):
    """A job that is suspended on host `a` can only come back there."""

    def setUp(self):
        super().setUp()
        self.away = waiting(number=1, size=1, saved=True, cpu=1.0)
        self.gang = servers(self.away, "SUSPENDED", hosts=("a",))

    def look(self, *gangs):
        look = seen(self.gang, *gangs, where=hosts("ab", slots=1))
        for server in self.gang:
            look.claims.pop(server.id)
        return look

    def ask(self, decisions, jobs, look):
        records = decisions.decide({one.number: one for one in jobs}, (), look, 1000.0)
        return [(record.kind, record.job) for record in records]

    def test_its_slot_is_free(self):
        other = job(number=2, size=1, cpu=1.0)
        found = self.ask(
            self.decisions(), [self.away, other], self.look(servers(other, hosts=("b",)))
        )
        self.assertEqual([(ActionKind.START, 1)], found)

    def test_its_slot_is_taken_another_is_free(self):
        other, new = job(number=2, size=1, cpu=1.0), waiting(number=3, size=1, cpu=1.0)
        look = self.look(servers(other, hosts=("a",)))
        found = self.ask(self.decisions(), [self.away, other, new], look)
        self.assertEqual([(ActionKind.START, 3)], found)
        self.assertEqual(ELSEWHERE, self.away.reason)

    def test_nobody_is_preempted_elsewhere_for_it(self):
        """Both slots are held by later arrivals; the policy would evict the last one, on `b`."""
        one, two = (job(number=number, size=1, cpu=1.0) for number in (2, 3))
        look = self.look(servers(one, hosts=("a",)), servers(two, hosts=("b",)))
        self.assertEqual([], self.ask(self.decisions(), [self.away, one, two], look))

    def test_its_host_has_left(self):
        look = seen(servers(self.away, "SUSPENDED", hosts=("z",)), where=hosts("ab", slots=1))
        self.assertEqual([], self.ask(self.decisions(), [self.away], look))
        self.assertEqual(ELSEWHERE, self.away.reason)


class TestStarting(DecisionCase):
    def test_no_slot_is_closed_where_nova_may_just_place_a_background_job(self):
        below = job(number=1, size=1, state=JobState.STARTING, tier=BG)
        hot, cool = (waiting(number=2, size=1, cpu=cpu) for cpu in (1.0, 0.5))
        opened = [action(ActionKind.START, below, {"tier": "bg"})]
        decisions = self.decisions()
        self.assertEqual([], self.ask(decisions, [below, hot], opened=opened))
        placed = servers(below, "ACTIVE", "spawning", hosts=("b",))
        found = self.ask(decisions, [below, hot], placed, tiers=[BG], opened=opened)
        self.assertEqual([(ActionKind.START, 2)], found)
        found = self.ask(self.decisions(), [below, cool], opened=opened)
        self.assertEqual([(ActionKind.START, 2)], found)

    def test_what_has_not_begun_comes_after_the_foreground(self):
        below = job(number=1, size=1, state=JobState.QUEUED, tier=None)
        hot = waiting(number=2, size=1, cpu=1.0)
        opened = [action(ActionKind.START, below, {"tier": "bg"}, begun_at=None)]
        found = self.ask(self.decisions(), [below, hot], opened=opened)
        self.assertEqual([(ActionKind.START, 2)], found)

    def test_nor_by_a_swap(self):
        below = job(number=1, size=1, state=JobState.STARTING, tier=BG)
        hot, cool = (job(number=2, size=1, cpu=cpu, tier=BG) for cpu in (1.0, 0.5))
        opened = [action(ActionKind.START, below, {"tier": "bg"})]
        for moving, expected in ((hot, []), (cool, [(ActionKind.SWAP, None)])):
            gang = servers(moving, hosts=("a",))
            found = self.ask(self.decisions(), [below, moving], gang, tiers=[BG], opened=opened)
            self.assertEqual(expected, found)

    def test_a_job_that_starts_is_not_decided_again(self):
        one = waiting(number=1, size=1)
        decisions = self.decisions()
        self.assertEqual([(ActionKind.START, 1)], self.ask(decisions, [one]))
        opened = [action(ActionKind.START, one, {"tier": "fg"})]
        self.assertEqual([], self.ask(decisions, [one], opened=opened))
