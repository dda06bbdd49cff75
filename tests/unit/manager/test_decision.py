"""What a policy is shown, and when it is asked again."""

import dataclasses

from nova_twotier.core.reasons import waits
from nova_twotier.core.snapshot import Event
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.manager.events import ALL
from nova_twotier.manager.ongoing import PATIENCE
from nova_twotier.manager.settling import RECHECK
from nova_twotier.manager.situation import Situation
from nova_twotier.manager.suspended import ELSEWHERE
from tests.unit.manager.builders import (
    BG,
    FAILS,
    FG,
    action,
    hosts,
    job,
    seen,
    servers,
    unmanaged_claim,
)
from tests.unit.manager.decision_case import DecisionCase, waiting


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

    def test_until_then_no_other_takes_the_idle_slot(self):
        """It would have its minimum time then, too, and so on for ever."""
        jobs = [self.first, self.late, waiting(number=3, size=1)]
        decisions = self.decisions("ambf", min_run_time=30.0)
        self.assertEqual([], self.ask(decisions, jobs, self.gang, now=1000.0, levels=1))
        found = self.ask(decisions, jobs, self.gang, now=1020.0, levels=1)
        self.assertEqual([(ActionKind.EVICT, 2), (ActionKind.START, 1)], found)

    def test_but_it_does_not_wait_for_nova(self):
        jobs = [self.first, self.late, waiting(number=3, size=1)]
        decisions = self.decisions("ambf", min_run_time=30.0)
        busy = servers(self.late, task="migrating")
        found = self.ask(decisions, jobs, busy, now=1000.0, levels=1)
        self.assertEqual([(ActionKind.START, 3)], found)

    def test_nor_until_the_next_attempt_after_one_that_failed(self):
        self.late.not_before = 1300.0
        jobs = [self.first, self.late, waiting(number=3, size=1)]
        found = self.ask(self.decisions("ambf"), jobs, self.gang, levels=1)
        self.assertEqual([(ActionKind.START, 3)], found)

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


class TestOnTheWay(DecisionCase):
    """3 arrived after 2, which is below it; 1, the earliest, is just being preempted."""

    def found(self, now):
        evicted, later = job(number=1, size=1), job(number=3, size=1)
        below = job(number=2, size=1, tier=BG)
        gangs = servers(evicted, hosts="b"), servers(below), servers(later)
        opened = [action(ActionKind.EVICT, evicted, begun_at=1000.0)]
        jobs = [evicted, below, later]
        return self.ask(self.decisions(), jobs, *gangs, tiers=[FG, BG, FG], opened=opened, now=now)

    def test_none_behind_it_evicts(self):
        self.assertEqual([], self.found(1001.0))

    def test_but_if_that_takes_long(self):
        self.assertEqual([(ActionKind.SWAP, None)], self.found(1000.0 + PATIENCE))


class TestLeftAlone(DecisionCase):
    """Both slots are held by later arrivals than the one that waits; it needs one of them."""

    def setUp(self):
        super().setUp()
        self.first = waiting(number=1, size=1, cpu=1.0)
        self.one, self.two = (job(number=number, size=1, cpu=1.0) for number in (2, 3))
        self.jobs = [self.first, self.one, self.two]

    def gangs(self, task=None):
        return servers(self.one, hosts=("a",)), servers(self.two, task=task, hosts=("b",))

    def test_the_last_one_is_preempted(self):
        found = self.ask(self.decisions(), self.jobs, *self.gangs())
        self.assertEqual([(ActionKind.EVICT, 3), (ActionKind.START, 1)], found)

    def test_but_not_after_it_was_refused(self):
        """The other one is, at once; after a while it may be asked for again."""
        self.two.back_off(1000.0)
        found = self.ask(self.decisions(), self.jobs, *self.gangs())
        self.assertEqual([(ActionKind.EVICT, 2), (ActionKind.START, 1)], found)

    def test_the_pause_ends(self):
        decisions = self.decisions()
        for one in (self.one, self.two):
            one.back_off(1000.0)
        self.assertEqual([], self.ask(decisions, self.jobs, *self.gangs()))
        end = self.two.not_before
        self.assertEqual([], self.ask(decisions, self.jobs, *self.gangs(), now=end - 0.1))
        self.assertEqual(2, len(self.ask(decisions, self.jobs, *self.gangs(), now=end)))

    def test_nor_while_nova_is_busy_with_it(self):
        decisions = self.decisions()
        found = self.ask(decisions, self.jobs, *self.gangs("migrating"))
        self.assertEqual([(ActionKind.EVICT, 2), (ActionKind.START, 1)], found)

    def test_nor_while_its_servers_are_started_again(self):
        """However long that takes."""
        record = action(ActionKind.POWER_ON, self.two)
        for now in (1000.0, 1e6):
            found = self.ask(self.decisions(), self.jobs, *self.gangs(), opened=[record], now=now)
            self.assertEqual([(ActionKind.EVICT, 2), (ActionKind.START, 1)], found)

    def test_but_while_its_owner_keeps_nova_busy_with_it(self):
        """Nova's lock does not forbid an owner to make images, one after the other."""
        for task in ("image_snapshot", "image_uploading", "image_backup"):
            found = self.ask(self.decisions(), self.jobs, *self.gangs(task))
            self.assertEqual([(ActionKind.EVICT, 3), (ActionKind.START, 1)], found, task)

    def test_it_is_looked_at_again_whether_nova_is_done(self):
        decisions = self.decisions()
        self.one.back_off(1e6)
        self.assertEqual([], self.ask(decisions, self.jobs, *self.gangs("migrating")))
        found = self.ask(decisions, self.jobs, *self.gangs(), now=1000.0 + RECHECK)
        self.assertEqual([(ActionKind.EVICT, 3), (ActionKind.START, 1)], found)

    def test_a_broken_gang_holds_nobody_up(self):
        """Its server is on its way off its host, perhaps for ever."""
        gone = servers(self.two, "SHELVED", task="shelving_offloading", hosts=("b",))
        look = seen(servers(self.one, hosts=("a",)), gone, where=hosts("ab", slots=1))
        look.claims.pop(gone[0].id)
        jobs = {each.number: each for each in self.jobs}
        [record] = self.decisions().decide(Situation(jobs, (), look, 1000.0))
        self.assertEqual((ActionKind.START, 1), (record.kind, record.job))


class TestStrangers(DecisionCase):
    """VMs that are no job's hold slots."""

    def test_nothing_is_decided_for_their_slots(self):
        decisions, one = self.decisions(), waiting(number=1, size=2, cpu=1.0)
        theirs = unmanaged_claim("a")
        self.assertEqual([], self.ask(decisions, [one], unmanaged=[theirs], levels=1))
        self.assertEqual(waits.SLOTS(size=2, idle=1, open=0), one.reason)
        self.assertEqual([], self.ask(decisions, [one], unmanaged=[theirs], levels=1))
        self.assertEqual([(ActionKind.START, 1)], self.ask(decisions, [one], levels=1))

    def test_nobody_is_preempted_for_it(self):
        one, late = waiting(number=1, size=2, cpu=1.0), job(number=2, size=1, cpu=1.0)
        gang = servers(late, hosts=("b",))
        found = self.ask(self.decisions(), [one, late], gang, unmanaged=[unmanaged_claim("a")])
        self.assertEqual([], found)

    def test_who_comes_under_a_slot_that_they_close_has_to_leave(self):
        decisions, below = self.decisions(), job(number=2, size=1, tier=BG)
        gang = servers(below, hosts=("a",))
        front = job(number=1, size=1)
        jobs, gangs = [front, below], (servers(front, hosts=("b",)), gang)
        cool, hot = ([unmanaged_claim("a", points=points)] for points in (95, 97))
        look = {"tiers": [FG, BG]}
        self.assertEqual([], self.ask(decisions, jobs, *gangs, unmanaged=cool, **look))
        found = self.ask(decisions, jobs, *gangs, unmanaged=hot, **look)
        self.assertEqual([(ActionKind.RELOCATE, 2)], found)

    def test_unless_servers_do_not_migrate_here(self):
        decisions, below = self.decisions(migrate_preempted=False), job(number=2, size=1, tier=BG)
        front = job(number=1, size=1)
        gangs = servers(front, hosts=("b",)), servers(below, hosts=("a",))
        hot = [unmanaged_claim("a", points=97)]
        found = self.ask(decisions, [front, below], *gangs, unmanaged=hot, tiers=[FG, BG])
        self.assertEqual([(ActionKind.EVICT, 2), (ActionKind.START, 2)], found)

    def test_servers_that_an_end_takes_away_are_none(self):
        """Their claims go a moment later, which is no news besides the end of the job."""
        decisions, one = self.decisions(), job(number=1, size=1, state=JobState.ENDING)
        late = waiting(number=2, size=2, cpu=1.0)
        gone = unmanaged_claim("a", points=100)
        opened = [action(ActionKind.END, one, attempts={f"delete {gone.vm}": 1})]
        jobs = [one, late]
        self.assertEqual([], self.ask(decisions, jobs, opened=opened, unmanaged=[gone]))
        self.assertEqual([], self.ask(decisions, jobs, opened=opened))


class TestTooLarge(DecisionCase):
    """A job that is larger than the pool waits, and no other waits for it."""

    def test_it_waits_for_hosts(self):
        large, small = waiting(number=1, size=3), waiting(number=2, size=2)
        decisions = self.decisions("fcfs")
        self.assertEqual([(ActionKind.START, 2)], self.ask(decisions, [large, small]))
        self.assertEqual("needs 3 slots in one tier, the pool has 2", str(large.reason))
        decisions.events.happened(Event.FOREGROUND)
        found = self.ask(decisions, [large], where=hosts("abc", slots=1))
        self.assertEqual([(ActionKind.START, 1)], found)

    def test_hosts_that_are_down_come_back(self):
        """It keeps its turn: others do not pass it, as they would pass one that is too large."""
        large, small = waiting(number=1, size=2), waiting(number=2, size=1)
        look = dataclasses.replace(seen(where=hosts("ab", slots=1)), enabled=frozenset("a"))
        jobs = {1: large, 2: small}
        self.assertEqual([], self.decisions("fcfs").decide(Situation(jobs, (), look, 1000.0)))

    def test_hosts_that_leave_do_not(self):
        large = waiting(number=1, size=2)
        where = hosts("ab", slots=1)
        where = where[0], dataclasses.replace(where[1], leaving=True)
        self.assertEqual([], self.ask(self.decisions(), [large], where=where))
        self.assertEqual("needs 2 slots in one tier, the pool has 1", str(large.reason))

    def test_in_a_pool_without_hosts_no_smaller_size_helps(self):
        small, decisions = waiting(number=1, size=1, pool="gpu"), self.decisions()
        self.assertEqual([], self.ask(decisions, [small], where=()))
        self.assertEqual(waits.EMPTY_POOL(pool="gpu"), small.reason)
        decisions.events.happened(Event.FOREGROUND)
        found = self.ask(decisions, [small], where=hosts("a", slots=1))
        self.assertEqual([(ActionKind.START, 1)], found)

    def test_no_reason_is_better_than_that_of_a_held_job(self):
        large = waiting(number=1, size=3, held=True, reason=waits.HELD())
        self.ask(self.decisions(), [large])
        self.assertEqual(waits.HELD(), large.reason)


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

    def poll(self, *gangs):
        look = seen(self.gang, *gangs, where=hosts("ab", slots=1))
        for server in self.gang:
            look.claims.pop(server.id)
        return look

    def ask(self, decisions, jobs, look):
        present = Situation({one.number: one for one in jobs}, (), look, 1000.0)
        records = decisions.decide(present)
        return [(record.kind, record.job) for record in records]

    def test_its_slot_is_free(self):
        other = job(number=2, size=1, cpu=1.0)
        found = self.ask(
            self.decisions(), [self.away, other], self.poll(servers(other, hosts=("b",)))
        )
        self.assertEqual([(ActionKind.START, 1)], found)

    def test_its_slot_is_taken_another_is_free(self):
        other, new = job(number=2, size=1, cpu=1.0), waiting(number=3, size=1, cpu=1.0)
        look = self.poll(servers(other, hosts=("a",)))
        found = self.ask(self.decisions(), [self.away, other, new], look)
        self.assertEqual([(ActionKind.START, 3)], found)
        self.assertEqual(ELSEWHERE, self.away.reason)

    def test_nobody_is_preempted_elsewhere_for_it(self):
        """Both slots are held by later arrivals; the policy would evict the last one, on `b`."""
        one, two = (job(number=number, size=1, cpu=1.0) for number in (2, 3))
        look = self.poll(servers(one, hosts=("a",)), servers(two, hosts=("b",)))
        self.assertEqual([], self.ask(self.decisions(), [self.away, one, two], look))

    def test_it_keeps_idle_slots_only_on_its_host(self):
        """It would fit without the later job on `b`, which was just started, but not on `a`."""
        away = waiting(number=2, size=2, saved=True)
        first, late = job(number=1, size=2), job(number=3, size=1, run_since=990.0)
        for host, decided in (("a", [(ActionKind.START, 4)]), ("b", [])):
            gang = servers(away, "SUSPENDED", hosts=(host,))
            others = servers(first), servers(late, hosts=("b",))
            look = seen(gang, *others, where=hosts("ab", 2, tiers=1))
            for server in gang:
                look.claims.pop(server.id)
            jobs = [first, away, late, waiting(number=4, size=1)]
            decisions = self.decisions("ambf", min_run_time=30.0)
            self.assertEqual(decided, self.ask(decisions, jobs, look), host)

    def test_its_host_has_left(self):
        look = seen(servers(self.away, "SUSPENDED", hosts=("z",)), where=hosts("ab", slots=1))
        self.assertEqual([], self.ask(self.decisions(), [self.away], look))
        self.assertEqual(ELSEWHERE, self.away.reason)

    def test_one_of_its_servers_is_gone(self):
        """A suspended job that has lost a server starts nowhere; other jobs start meanwhile."""
        away = waiting(number=1, size=2, saved=True)
        gang = servers(away, "SUSPENDED", hosts=("a", "b"))[:1]
        look = seen(gang, where=hosts("ab", slots=1))
        look.claims.clear()
        other = waiting(number=2, size=1)
        self.assertEqual([(ActionKind.START, 2)], self.ask(self.decisions(), [away, other], look))


class TestStarting(DecisionCase):
    def test_no_slot_is_closed_where_nova_may_just_place_a_background_job(self):
        below = job(number=1, size=1, state=JobState.STARTING, tier=BG)
        hot, cool = (waiting(number=2, size=1, cpu=cpu) for cpu in (1.0, 0.5))
        opened = [action(ActionKind.START, below, StartPlan(BG, "immediate"), begun_at=999.0)]
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
        opened = [action(ActionKind.START, below, StartPlan(BG, "immediate"), begun_at=None)]
        found = self.ask(self.decisions(), [below, hot], opened=opened)
        self.assertEqual([(ActionKind.START, 2)], found)

    def test_but_not_for_ever(self):
        """Neither for a start that is being undone, nor for an end that takes too long."""
        one = job(number=1, size=1, state=JobState.STARTING, tier=BG)
        hot = waiting(number=2, size=1, cpu=1.0)
        undone = action(ActionKind.START, one, StartPlan(BG, "immediate"), undoing=FAILS)
        found = self.ask(self.decisions(), [one, hot], opened=[undone])
        self.assertEqual([(ActionKind.START, 2)], found)

    def test_a_job_that_does_not_come_to_its_end(self):
        below = job(number=1, size=2, state=JobState.ENDING, tier=BG)
        hot = waiting(number=2, size=2, cpu=1.0)
        decisions = self.decisions(operation_timeout=60.0)
        for began, expected in ((1000.0, []), (939.0, [(ActionKind.START, 2)])):
            opened = [action(ActionKind.END, below, begun_at=began)]
            gang = servers(below, "ACTIVE", "deleting", hosts=("a", "b"))
            found = self.ask(decisions, [below, hot], gang, tiers=[BG], opened=opened)
            self.assertEqual(expected, found)

    def test_what_is_undone_takes_no_slots(self):
        one = job(number=1, size=2, state=JobState.STARTING)
        new = waiting(number=2, size=2)
        undone = action(ActionKind.START, one, StartPlan(FG, "immediate"), undoing=FAILS)
        found = self.ask(self.decisions("fcfs"), [one, new], opened=[undone])
        self.assertEqual([(ActionKind.START, 2)], found)

    def test_nor_by_a_swap(self):
        below = job(number=1, size=1, state=JobState.STARTING, tier=BG)
        hot, cool = (job(number=2, size=1, cpu=cpu, tier=BG) for cpu in (1.0, 0.5))
        opened = [action(ActionKind.START, below, StartPlan(BG, "immediate"), begun_at=999.0)]
        for moving, expected in ((hot, []), (cool, [(ActionKind.SWAP, None)])):
            gang = servers(moving, hosts=("a",))
            found = self.ask(self.decisions(), [below, moving], gang, tiers=[BG], opened=opened)
            self.assertEqual(expected, found)

    def test_a_job_that_starts_is_not_decided_again(self):
        one = waiting(number=1, size=1)
        decisions = self.decisions()
        self.assertEqual([(ActionKind.START, 1)], self.ask(decisions, [one]))
        opened = [action(ActionKind.START, one, StartPlan(FG, "immediate"))]
        self.assertEqual([], self.ask(decisions, [one], opened=opened))


class TestWhatIsShown(DecisionCase):
    """What the policy is told, and the queue that it is shown, each time that it is asked."""

    def setUp(self):
        super().setUp()
        self.front = job(number=9, size=1)
        self.maker = self.decisions("fcfs")
        self.asked = []
        schedule = self.maker._policy.schedule

        def spy(snapshot, event, now):
            self.asked.append((event, [each.number for each in snapshot.queue]))
            return schedule(snapshot, event, now)

        self.maker._policy.schedule = spy

    def poll(self, *jobs, now=1000.0):
        """What the policy was asked at it, if it was."""
        self.asked.clear()
        self.ask(self.maker, [self.front, *jobs], servers(self.front), now=now)
        return self.asked

    def test_who_is_to_pause_does_not_keep_it_busy(self):
        one, other = (waiting(number=number, size=2) for number in (1, 2))
        one.not_before = 1060.0
        late = waiting(number=3, size=2)
        self.assertEqual([(ALL, [2])], self.poll(one, other))
        self.assertEqual([], self.poll(one, other, now=1010.0))
        self.assertEqual([(Event.ARRIVAL, [2, 3])], self.poll(one, other, late, now=1020.0))
        self.assertEqual([], self.poll(one, other, late, now=1059.0))
        self.assertEqual([(ALL, [1, 2, 3])], self.poll(one, other, late, now=1060.0))
        self.assertEqual([], self.poll(one, other, late, now=1061.0))

    def test_who_comes_and_goes(self):
        jobs = [waiting(number=number, size=2) for number in (1, 2, 3)]
        self.poll(*jobs)
        jobs[1].held = True
        self.assertEqual([(ALL, [1, 3])], self.poll(*jobs))
        self.maker.events.happened(ALL)
        self.assertEqual([(ALL, [3])], self.poll(*jobs[1:]))
        jobs[1].held = False
        self.assertEqual([(ALL, [1, 2, 3])], self.poll(*jobs))
