"""How many servers boot at the same time."""

from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.reasons import waits
from nova_twotier.db.plans import StartPlan
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.manager.decision import RECHECK
from tests.unit.manager.builders import FG, action, hosts, job, servers
from tests.unit.manager.decision_case import DecisionCase, waiting

SLOTS = hosts("abcd", slots=4)
GRACE = 90.0


def start_of(starting, begun_at=1000.0, **values):
    """Its open action; it has begun."""
    return action(ActionKind.START, starting, StartPlan(FG, "direct"), begun_at, **values)


class TestBootLimit(DecisionCase):
    """16 slots are idle; at most 4 servers boot at the same time."""

    def setUp(self):
        super().setUp()
        self.limited = self.decisions(max_concurrent_boots=4, boot_grace=GRACE)

    def starts(self, jobs, *gangs, now=1000.0, opened=(), decisions=None):
        found = self.ask(
            decisions or self.limited, jobs, *gangs, now=now, opened=opened, where=SLOTS
        )
        return [number for _kind, number in found]

    def starting(self, number, size=2):
        return job(number=number, size=size, state=JobState.STARTING)

    def test_no_more_start_than_may_boot(self):
        jobs = [waiting(number=number, size=2) for number in (1, 2, 3)]
        self.assertEqual([1, 2], self.starts(jobs))
        self.assertEqual([None, None, waits.BOOTS(limit=4)], [each.reason for each in jobs])

    def test_the_next_one_starts_when_one_is_up(self):
        first, second, third = self.starting(1), self.starting(2), waiting(number=3)
        jobs, opened = [first, second, third], [start_of(first), start_of(second)]
        building = servers(second, "BUILD")
        busy = servers(first, task="spawning")
        self.assertEqual([], self.starts(jobs, busy, building, opened=opened))
        self.assertEqual(waits.BOOTS(limit=4), third.reason)
        first.state = JobState.RUNNING
        # What the engine does when an action is done.
        self.limited.events.happened(self.limited.events.caused(opened[0], {1: first}))
        self.assertEqual([3], self.starts(jobs, servers(first), building, opened=opened[1:]))

    def test_servers_that_are_up_do_not_count(self):
        first, second = self.starting(1, size=4), waiting(number=2)
        half = [*servers(first, count=2), *servers(first, "BUILD")[2:]]
        self.assertEqual([2], self.starts([first, second], half, opened=[start_of(first)]))

    def test_nobody_passes_a_job_that_has_to_wait_for_boots(self):
        jobs = [waiting(number=1, size=2), waiting(number=2, size=3), waiting(number=3, size=1)]
        self.assertEqual([1], self.starts(jobs))

    def test_a_job_larger_than_the_limit_starts_alone(self):
        large, small = waiting(number=1, size=9), waiting(number=2, size=1)
        self.assertEqual([1], self.starts([large, small]))

    def test_and_waits_until_no_other_server_boots(self):
        first, large = self.starting(1), waiting(number=2, size=9)
        opened = [start_of(first)]
        self.assertEqual([], self.starts([first, large], servers(first, "BUILD"), opened=opened))
        self.limited.events.happened(self.limited.events.caused(opened[0], {1: first}))
        self.assertEqual([2], self.starts([first, large], servers(first), opened=opened))

    def test_what_others_make_room_for_is_not_held_back(self):
        """Two jobs came before the one that runs, which leaves them its foreground slots."""
        late = job(number=9, size=16, cpu=1.0)
        jobs = [waiting(number=1, size=8), waiting(number=2, size=8), late]
        found = self.ask(self.limited, jobs, servers(late, hosts="abcd"), where=SLOTS)
        self.assertEqual(
            [(ActionKind.SWAP, None), (ActionKind.START, 1), (ActionKind.START, 2)], found
        )

    def test_starts_that_hang_hold_nobody_up(self):
        first, second = self.starting(1, size=4), waiting(number=2)
        jobs, gang, opened = [first, second], servers(first, "BUILD"), [start_of(first)]
        self.assertEqual([], self.starts(jobs, gang, opened=opened))
        late = 1000.0 + GRACE
        self.assertEqual([], self.starts(jobs, gang, now=late - RECHECK, opened=opened))
        # Nothing has happened since.
        self.assertEqual([2], self.starts(jobs, gang, now=late, opened=opened))

    def test_starts_that_are_undone_hold_nobody_up(self):
        first, second = self.starting(1, size=4), waiting(number=2)
        opened = [start_of(first, undoing=waits.PAUSED())]
        gang = servers(first, "BUILD")
        self.assertEqual([2], self.starts([first, second], gang, opened=opened))

    def test_any_number_by_option(self):
        jobs = [waiting(number=number, size=4) for number in (1, 2, 3)]
        decisions = self.decisions(max_concurrent_boots=0)
        self.assertEqual([1, 2, 3], self.starts(jobs, decisions=decisions))

    @given(
        st.lists(st.integers(1, 6), min_size=1, max_size=12),
        st.integers(1, 8),
        st.randoms(use_true_random=False),
    )
    def test_all_start_in_their_order(self, sizes, limit, chance):
        """Whatever comes up first; all have room at once."""
        decisions = self.decisions("fcfs", max_concurrent_boots=limit)
        left = [waiting(number=number, size=size) for number, size in enumerate(sizes, start=1)]
        everywhere = hosts("abcdefgh", slots=9)
        booting, up, order = [], [], []
        while left or booting:
            gangs = [servers(each, "BUILD") for each in booting] + [servers(each) for each in up]
            opened = [start_of(each) for each in booting]
            found = self.ask(
                decisions, [*left, *booting, *up], *gangs, opened=opened, where=everywhere
            )
            numbers = [number for _kind, number in found]
            order += numbers
            for each in [each for each in left if each.number in numbers]:
                each.state, each.tier = JobState.STARTING, FG
                left.remove(each)
                booting.append(each)
            count = sum(each.size for each in booting)
            self.assertTrue(count <= limit or len(booting) == 1, (limit, booting))
            self.assertTrue(booting, "nothing goes on")
            over = chance.choice(booting)
            over.state = JobState.RUNNING
            booting.remove(over)
            up.append(over)
            decisions.events.happened(decisions.events.caused(start_of(over), {over.number: over}))
        self.assertEqual(sorted(order), order)
