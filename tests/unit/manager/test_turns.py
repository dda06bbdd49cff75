"""Whose turn it is: within a decision in order, and no decision waits for another one."""

from dataclasses import replace

import testtools

from nova_twotier.db.plans import EvictPlan, MigratePlan, StartPlan, SwapPlan, TierChange
from nova_twotier.db.states import ActionKind, ActionState, JobState
from nova_twotier.ledger.claims import Claim
from nova_twotier.manager.ongoing import PATIENCE, PLACING, arriving
from nova_twotier.manager.turns import Turns
from tests.unit.manager.builders import BG, BY_NINE, FAILS, FG, action, hosts, job, seen, servers

NOW = 100.0
EVICT, SWAP, MIGRATE, START_FG, START_BG = range(1, 6)


class TestTurns(testtools.TestCase):
    """Four slots on hosts `a` and `b`."""

    def setUp(self):
        super().setUp()
        self.jobs, self.gangs, self.opened = {}, [], []

    def open(self, phase, created_at=NOW, size=1, begun_at=None, placed=True, freed=0, cpu=1.0):
        tier = BG if phase == START_BG else FG
        one = job(size=size, tier=tier, state=JobState.RUNNING, cpu=cpu)
        self.jobs[one.number] = one
        if placed:
            self.gangs.append(servers(one, hosts=("a",)))
        if phase < START_FG:
            kind = (ActionKind.EVICT, ActionKind.SWAP, ActionKind.MIGRATE)[phase - 1]
            opened = action(kind, one, begun_at=begun_at)
        else:
            plan = StartPlan(tier, "immediate", freed=freed)
            opened = action(ActionKind.START, one, plan, begun_at=begun_at)
        opened.phase, opened.created_at, opened.state = phase, created_at, ActionState.EXPECTED
        self.opened.append(opened)
        return opened

    def start(self, *args, **values):
        return self.open(*args, placed=False, **values)

    def place(self, start):
        self.gangs.append(servers(self.jobs[start.job], hosts=("a",)))

    def due(self, now=NOW, **look):
        look = seen(*self.gangs, at=now, where=hosts("ab", slots=2), **look)
        self.turns = Turns(self.opened, self.jobs, look, 0.96, now)
        return self.turns.due()

    def test_the_phases_of_a_decision(self):
        evict, swap, move = (self.open(phase) for phase in (EVICT, SWAP, MIGRATE))
        front, back = self.start(START_FG), self.start(START_BG)
        for each in (evict, swap, move, front):
            self.assertEqual([each], self.due())
            each.state = ActionState.DONE
        self.assertEqual([back], self.due())

    def test_the_next_decision_does_not_wait(self):
        stuck = self.open(EVICT, begun_at=NOW)
        self.start(START_FG)
        swap, start = self.open(SWAP, NOW + 1), self.start(START_FG, NOW + 2)
        self.assertEqual([stuck, swap, start], self.due(NOW + 2))

    def test_jobs_with_bandwidth_are_placed_one_after_the_other(self):
        """Each finds what was left to it when it was planned."""
        first, second = self.start(START_FG), self.start(START_FG)
        for each in (first, second):
            each.plan = StartPlan(FG, "immediate", hosts=("a",))
        plain = self.start(START_FG)
        self.assertEqual([first, plain], self.due())
        first.begun_at = NOW
        self.assertEqual([first, plain], self.due())
        self.place(first)
        self.assertEqual([first, second, plain], self.due())
        self.gangs.clear()
        self.assertIn(second, self.due(NOW + PLACING), "Nova takes too long")

    def test_repairs_and_ends_wait_for_nothing(self):
        self.open(EVICT, begun_at=NOW)
        repair = self.open(EVICT)
        repair.plan = EvictPlan(BY_NINE, repairs=True)
        end = self.open(EVICT)
        end.kind, end.phase = ActionKind.END, 0
        end.plan = action(ActionKind.END).plan
        self.assertEqual([repair, end], self.due()[1:])

    def test_the_background_waits_until_the_foreground_is_placed(self):
        """Not until it runs: a large image may take long."""
        front = self.open(START_FG, begun_at=NOW)
        back = self.start(START_BG)
        self.assertEqual([front, back], self.due())
        [gang] = self.gangs
        self.gangs = [servers(self.jobs[front.job], "BUILD")]
        self.assertEqual([front], self.due())
        self.gangs = [gang]
        self.start(START_FG, NOW + 1)
        self.assertNotIn(back, self.due(NOW + 1))

    def test_a_nova_that_is_slow_to_place(self):
        """Nova could place the background job under the slot that the other one closes."""
        front, back = self.start(START_FG, begun_at=NOW), self.start(START_BG, NOW + 1)
        self.assertEqual([front], self.due(NOW + 2 * PATIENCE))
        self.assertEqual([front, back], self.due(NOW + PLACING))

    def test_an_owner_who_deletes_a_server_holds_nobody_up(self):
        front, back = self.start(START_FG, begun_at=NOW, size=2), self.start(START_BG, NOW + 1)
        self.assertEqual([front], self.due(NOW + 1))
        self.gangs.append(servers(self.jobs[front.job], "BUILD", count=1))
        self.assertEqual([front], self.due(NOW + 1))
        self.gangs = [servers(self.jobs[front.job], count=1)]
        self.assertEqual([front, back], self.due(NOW + 1))

    def test_they_take_turns(self):
        """Neither waits forever, though there is always another one to start."""
        front, back = self.start(START_FG, begun_at=NOW), self.start(START_BG)
        younger = self.start(START_FG, NOW + 1)
        self.assertEqual([front, younger], self.due(NOW + 1))
        late = NOW + PATIENCE
        self.assertEqual([front], self.due(late), "the late one is next")
        self.place(front)
        self.assertEqual([front, back], self.due(late))
        back.begun_at = late
        self.assertEqual([front, back], self.due(late + 1))
        self.place(back)
        self.assertEqual([front, back, younger], self.due(late + 1))

    def test_the_older_one_is_next(self):
        """However long Nova takes, and however many come after it."""
        front = self.start(START_FG)
        below = self.start(START_BG, begun_at=NOW)
        self.start(START_BG, NOW + 1)
        late = NOW + 1 + PATIENCE
        self.assertEqual([below], self.due(late))
        self.place(below)
        self.assertEqual([front, below], self.due(late))

    def test_who_is_late_does_not_wait_for_younger_swaps(self):
        back = self.start(START_BG)
        swap = self.open(SWAP, NOW + 1)
        self.assertEqual([swap], self.due(NOW + 1))
        self.assertEqual([back, swap], self.due(NOW + PATIENCE))

    def test_who_closes_no_slot_waits_for_none(self):
        cold, back = self.start(START_FG, cpu=0.5), self.start(START_BG, begun_at=NOW)
        self.assertEqual([cold, back], self.due())
        waiting = self.start(START_BG)
        cold.begun_at = NOW
        self.assertEqual([cold, back], self.due())
        self.assertEqual([cold, back, waiting], self.due(NOW + PATIENCE))

    def test_what_swaps_and_migrations_close_is_known_in_the_next_round(self):
        for phase in (SWAP, MIGRATE):
            move, back = self.open(phase), self.start(START_BG, NOW + 1)
            self.assertEqual([move], self.due(NOW + 1))
            move.begun_at = NOW + 1
            self.assertEqual([move, back], self.due(NOW + 2))
            self.opened.clear()

    def test_processes_that_migrate_to_the_foreground_close_their_slots(self):
        move = self.open(MIGRATE, cpu=1.0, size=2)
        move.plan = MigratePlan({0: "b", 1: "b"}, {0: "a", 1: "a"})
        look = seen(*self.gangs, tiers=[BG], where=hosts("ab", slots=2))

        self.assertEqual(
            {}, arriving([move], self.jobs, look, 0.96), "others may have the slots still"
        )
        move.begun_at = NOW
        self.assertEqual({"b": 2}, arriving([move], self.jobs, look, 0.96))
        vm = self.gangs[0][0].id
        look.claims[vm] = Claim(vm, "b", FG, 100)
        self.assertEqual(
            {"b": 1}, arriving([move], self.jobs, look, 0.96), "one is there, and counts as such"
        )
        self.jobs[move.job].cpu = [0.5, 0.5]
        self.assertEqual({}, arriving([move], self.jobs, look, 0.96))

    def test_a_start_that_is_undone_closes_no_slot(self):
        front, back = self.start(START_FG, begun_at=NOW), self.start(START_BG, NOW + 1)
        front.progress = replace(front.progress, undoing=FAILS)
        self.assertEqual([front, back], self.due(NOW + 1))

    def test_who_is_late_goes_as_soon_as_there_is_room(self):
        self.open(EVICT, begun_at=NOW)
        waiting = self.start(START_FG, size=3, freed=1)
        self.start(START_FG, size=2)
        late = NOW + PATIENCE
        self.assertEqual([], self.due(late - 0.1)[1:])
        # Three slots are idle: not enough for both.
        self.assertEqual([waiting], self.due(late)[1:])

    def test_but_not_before_its_own_eviction_is_over(self):
        evict = self.open(EVICT, begun_at=NOW)
        start = self.start(START_FG)
        start.job = evict.job
        self.assertEqual([evict], self.due(NOW + PATIENCE))

    def test_what_was_freed_for_another_is_not_idle(self):
        """Of its two slots one was given back already; the other is not."""
        self.open(EVICT, begun_at=NOW)
        self.start(START_FG, size=4, freed=2)
        other = self.start(START_FG, NOW, size=3)
        self.assertNotIn(other, self.due(NOW + PATIENCE))
        other.job = self.start(START_FG, size=2).job
        self.opened.pop()
        self.assertIn(other, self.due(NOW + PATIENCE))

    def test_two_that_count_on_what_their_decision_frees(self):
        """Two of four slots are free by now: no start of theirs fits yet, and they are kept."""
        self.open(EVICT, begun_at=NOW, size=2)
        both = [self.start(START_FG, size=3, freed=2) for _each in range(2)]
        other = self.start(START_FG, NOW + 1, size=2)
        self.assertNotIn(other, self.due(NOW + 1 + PATIENCE))
        self.opened.remove(both[1])
        other.state = ActionState.EXPECTED
        self.assertIn(other, self.due(NOW + 1 + PATIENCE))

    def test_what_a_move_frees_is_for_its_decision(self):
        """A job leaves the foreground, and another one is to take what that frees."""
        swap = self.open(SWAP, begun_at=NOW, size=2)
        one = self.jobs[swap.job]
        swap.plan = SwapPlan((TierChange(one.number, one.uuid, 2, BG, ()),))
        self.start(START_FG, size=3, freed=2)
        other = self.start(START_FG, NOW + 1, size=2)
        self.assertIn(other, self.due(NOW + 1 + PATIENCE))

    def test_what_a_move_takes_is_kept_for_it(self):
        """One of the four slots that are idle; its own in the background is free only later."""
        move = self.open(MIGRATE, begun_at=NOW)
        move.plan = MigratePlan({0: "b"}, {0: "a"})
        other = self.start(START_FG, NOW + 1, size=4)
        self.assertNotIn(other, self.due(NOW + 1 + PATIENCE, tiers=[BG]))
        other.state, self.jobs[other.job] = ActionState.EXPECTED, job(number=other.job, size=3)
        self.assertIn(other, self.due(NOW + 1 + PATIENCE, tiers=[BG]))

    def test_who_has_waited_in_vain_is_dropped(self):
        start = self.start(START_FG, size=5)
        self.assertEqual([start], self.due())
        self.assertEqual([], self.due(NOW + PATIENCE))
        self.assertTrue(self.turns.dropped)
        self.assertEqual(ActionState.FAILED, start.state)
        self.assertIn("taken meanwhile", str(start.reason))
