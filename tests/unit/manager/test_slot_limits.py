"""Limits of the slots of a user or a project: never exceeded, and nobody is passed under one."""

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import waits
from nova_twotier.db.plans import EndPlan, StartPlan
from nova_twotier.db.states import ActionKind, JobState
from nova_twotier.manager.limits import Limit, barred, held_tiers
from tests.unit.manager import builders
from tests.unit.manager.builders import BG, FG, action, hosts, servers
from tests.unit.manager.decision_case import DecisionCase, waiting

START = ActionKind.START


def queued(size, user="alice", project="p", tiers=(FG, BG), **values):
    job = waiting(size=size, user_id=user, project_id=project, **values)
    job.tiers = tiers
    return job


def running(size, user="alice", project="p", tier=FG, **values):
    return builders.job(size=size, user_id=user, project_id=project, tier=tier, **values)


def tiers_of(found, job):
    return set(found.get(job.number, ()))


class TestBarred(testtools.TestCase):
    def test_up_to_the_limit_in_the_order_of_the_queue(self):
        jobs = [queued(2, submitted_at=float(at)) for at in (3, 1, 2)]
        found = barred([Limit("user", FG, 5)], jobs, {running(1): frozenset({FG})})
        self.assertEqual([{FG}, set(), set()], [tiers_of(found, job) for job in jobs])
        by = jobs[1].number
        expected = waits.SLOT_LIMIT(by, per="user", limit=5, tier="foreground", used=1, size=2)
        self.assertEqual(expected, found[jobs[0].number][FG].reason)
        self.assertEqual(
            f"needs 2 foreground slots; its user may hold 5 at a time and holds 1; job {by} comes "
            "first",
            str(expected),
        )

    def test_a_smaller_job_does_not_pass_under_the_limit(self):
        large, small = queued(4), queued(1)
        holding = {running(2): frozenset({FG})}
        found = barred([Limit("user", FG, 5)], [large, small], holding)
        self.assertEqual([{FG}, {FG}], [tiers_of(found, job) for job in (large, small)])

    def test_an_earlier_job_is_named_if_there_is_room_but_for_it(self):
        large, small, other = queued(4), queued(1), queued(4)
        found = barred([Limit("user", FG, 5)], [large, small, other], {running(2): {FG}})
        named = [found[job.number][FG].reason.by for job in (large, small, other)]
        self.assertEqual([None, large.number, None], named)

    def test_the_one_that_waits_for_room_is_named_not_one_that_has_it(self):
        small, large, other = queued(1), queued(5), queued(1)
        found = barred([Limit("user", FG, 5)], [small, large, other], {})
        named = [found[job.number][FG].reason.by for job in (large, other)]
        self.assertEqual([small.number, large.number], named)

    def test_of_limits_that_it_is_too_large_for_the_least_is_told(self):
        holding = {running(3): {FG}}
        great, small = Limit("user", FG, 3), Limit("project", FG, 2)
        for limits in ([great, small], [small, great]):
            for size in (3, 4):
                job = queued(size)
                bar = barred(limits, [job], holding)[job.number][FG]
                told = dict(bar.reason.parameters)
                self.assertEqual(("project", 2), (told["per"], told["limit"]))
                self.assertEqual(size - 2, bar.excess)

    def test_one_that_never_fits_holds_up_none(self):
        large, small = queued(6), queued(1)
        found = barred([Limit("user", FG, 5)], [large, small], {})
        self.assertEqual([{FG}, set()], [tiers_of(found, job) for job in (large, small)])

    def test_one_that_never_fits_under_a_limit_holds_up_none_under_another(self):
        large, small = queued(4), queued(2)
        full, lowered = Limit("user", FG, 5), Limit("project", FG, 3)
        for limits in ([full, lowered], [lowered, full]):
            found = barred(limits, [large, small], {})
            self.assertEqual([{FG}, set()], [tiers_of(found, job) for job in (large, small)])

    def test_each_owner_on_its_own(self):
        jobs = [queued(2), queued(2, user="bob"), queued(2, project="q")]
        holding = {running(3): frozenset({FG})}
        by_user = barred([Limit("user", FG, 4)], jobs, holding)
        by_project = barred([Limit("project", FG, 4)], jobs, holding)
        self.assertEqual([{FG}, set(), {FG}], [tiers_of(by_user, job) for job in jobs])
        self.assertEqual([{FG}, {FG}, set()], [tiers_of(by_project, job) for job in jobs])

    def test_jobs_of_the_background_rise_in_their_turn(self):
        below, later = running(2, tier=BG, submitted_at=1.0), queued(2, submitted_at=2.0)
        found = barred([Limit("user", FG, 2)], [later], {below: frozenset({BG})})
        self.assertEqual([set(), {FG}], [tiers_of(found, job) for job in (below, later)])
        below.submitted_at = below.eligible_at = 3.0
        below.__dict__.pop("core")
        found = barred([Limit("user", FG, 2)], [later], {below: frozenset({BG})})
        self.assertEqual([{FG}, set()], [tiers_of(found, job) for job in (below, later)])

    def test_who_waits_for_the_background_comes_before_who_might_fall(self):
        above, later = running(2, submitted_at=1.0), queued(2, submitted_at=2.0)
        found = barred([Limit("user", BG, 2)], [later], {above: frozenset({FG})})
        self.assertEqual([{BG}, set()], [tiers_of(found, job) for job in (above, later)])

    @given(
        st.lists(
            st.tuples(st.integers(1, 5), st.sampled_from("ab"), st.sampled_from("pq")), max_size=8
        ),
        st.lists(
            st.tuples(st.integers(1, 5), st.sampled_from("ab"), st.sampled_from("pq")), max_size=8
        ),
        st.lists(
            st.builds(
                Limit,
                st.sampled_from(("user", "project")),
                st.sampled_from((FG, BG)),
                st.integers(0, 15),
            ),
            max_size=4,
        ),
        st.data(),
    )
    def test_whatever_starts_no_limit_is_exceeded(self, queue, active, limits, data):
        """Nor is one that was exceeded, since it was lowered, exceeded by more."""
        candidates = [queued(size, user, project) for size, user, project in queue]
        holding = {
            running(size, user, project): frozenset({data.draw(st.sampled_from((FG, BG)))})
            for size, user, project in active
        }
        found = barred(limits, candidates, holding)
        tiers = dict(holding)
        for job in (*candidates, *holding):
            may = [tier for tier in Tier if tier not in found.get(job.number, ())]
            if may and data.draw(st.booleans()):
                tiers[job] = frozenset({data.draw(st.sampled_from(may))})
        for limit in limits:
            for owner in "abpq":
                before, after = (
                    sum(
                        job.size
                        for job, held in each.items()
                        if limit.tier in held and limit.owner(job) == owner
                    )
                    for each in (holding, tiers)
                )
                self.assertLessEqual(after, max(before, limit.slots))


class TestHeld(testtools.TestCase):
    def test_what_jobs_hold_or_are_about_to(self):
        runs, waits_ = running(1, tier=BG), queued(1)
        starts = queued(1)
        start = action(START, starts, StartPlan(FG, "immediate"))
        found = held_tiers([runs, waits_, starts], {starts.number: start}, [])
        self.assertEqual([{BG}, set(), {FG}], [set(found[j]) for j in (runs, waits_, starts)])


class TestDecisions(DecisionCase):
    def limited(self, policy="amcbf", **limits):
        names = {f"max_{name}": most for name, most in limits.items()}
        return self.decisions(policy, **names)

    def test_a_job_over_the_limit_is_not_shown(self):
        """It neither starts nor holds up others, and it says why."""
        decisions = self.limited("fcfs", foreground_slots_per_user=1)
        one, two, other = (
            queued(1, user=user, submitted_at=float(at))
            for at, user in enumerate(("alice", "alice", "bob"))
        )
        found = self.ask(decisions, [one, two, other])
        self.assertEqual([(START, one.number), (START, other.number)], found)
        self.assertEqual("slot-limit", two.reason.code.name)
        self.assertIsNone(one.reason)

    def test_it_is_shown_when_the_owner_has_less(self):
        decisions = self.limited("fcfs", foreground_slots_per_project=1)
        first, second = running(1, cpu=1.0), queued(1)
        gang = servers(first)
        self.assertEqual([], self.ask(decisions, [first, second], gang))
        self.assertEqual("slot-limit", second.reason.code.name)
        self.assertEqual([(START, second.number)], self.ask(decisions, [second], now=1001.0))

    def test_one_that_ends_counts_until_its_slots_are_free(self):
        """A job that has freed its slots no longer counts, so that its owner's next can start."""
        ends, next_, later = running(1), queued(1, submitted_at=1.0), queued(1, "bob", "q")
        ends.state, later.submitted_at = JobState.ENDING, 2.0
        open_ = [action(ActionKind.END, ends, EndPlan(JobState.FINISHED, None, 1000.0))]
        decisions = self.limited("easy", foreground_slots_per_project=1)
        look = {"where": hosts("a", slots=1), "opened": open_}
        self.assertEqual([], self.ask(decisions, [ends, next_, later], servers(ends), **look))
        self.assertEqual("slot-limit", next_.reason.code.name)
        found = self.ask(decisions, [ends, next_, later], now=1001.0, **look)
        self.assertEqual([(START, next_.number)], found)

    def test_the_background_is_left_to_it(self):
        decisions = self.limited(foreground_slots_per_user=1)
        first, second = running(1, cpu=0.1), queued(1, cpu=0.1)
        look = {"where": hosts("ab", slots=1), "tiers": [FG]}
        records = self.ask(decisions, [first, second], servers(first), **look)
        self.assertEqual([(START, second.number)], records)
        self.assertTrue(second.core.background)
        self.assertFalse(second.core.foreground)

    def test_not_by_a_policy_without_background(self):
        decisions = self.limited("easy", foreground_slots_per_user=1)
        first, second = running(1), queued(1)
        self.assertEqual([], self.ask(decisions, [first, second], servers(first)))
        self.assertEqual("slot-limit", second.reason.code.name)

    def test_it_is_told_of_the_tier_that_it_waits_for(self):
        """Not of one whose limit it is too large for; if it is for both, of the greater limit."""
        above, below = running(3, cpu=0.1), running(2, tier=BG, cpu=0.1)
        for limits, word in (
            ({"foreground_slots_per_project": 3, "background_slots_per_user": 1}, "foreground"),
            ({"foreground_slots_per_user": 1, "background_slots_per_project": 0}, "foreground"),
            ({"foreground_slots_per_user": 1, "background_slots_per_project": 2}, "background"),
        ):
            waits_ = queued(2, cpu=0.1)
            held = [above, below]
            self.ask(self.limited(**limits), [*held, waits_], servers(above) + servers(below))
            self.assertIn(f"needs 2 {word} slots; its", str(waits_.reason))

    def test_no_limit_of_a_tier_that_the_policy_does_not_use_keeps_it_waiting(self):
        below = queued(1, tiers=(BG,))
        self.ask(self.limited("easy", background_slots_per_user=0), [below])
        self.assertEqual("tier-unused", below.reason.code.name)
        decisions = self.limited(
            "easy", background_slots_per_user=0, foreground_slots_per_project=1
        )
        first, second = running(1), queued(1)
        self.ask(decisions, [first, second], servers(first))
        self.assertIn("needs 1 foreground slot; its project", str(second.reason))

    def test_who_runs_in_the_background_does_not_rise_over_the_limit(self):
        for most, expected in ((1, []), (2, [(ActionKind.SWAP, None)])):
            decisions = self.limited(foreground_slots_per_user=most)
            above, below = running(1, cpu=0.1), running(1, tier=BG, cpu=0.1)
            gangs = [servers(above, hosts=("a",)), servers(below, hosts=("b",))]
            found = self.ask(decisions, [above, below], *gangs, tiers=[FG, BG])
            self.assertEqual(expected, found, most)

    def test_a_change_of_the_limit_counts_at_once(self):
        decisions = self.limited("fcfs", foreground_slots_per_user=0)
        job = queued(1)
        self.assertEqual([], self.ask(decisions, [job]))
        decisions._options.max_foreground_slots_per_user = -1
        self.assertEqual([(START, job.number)], self.ask(decisions, [job], now=1001.0))

    def test_many_are_told_in_turn(self):
        decisions = self.limited("fcfs", foreground_slots_per_user=0)
        jobs = [queued(1) for _job in range(310)]
        self.ask(decisions, jobs)
        self.assertEqual(300, sum(job.reason is not None for job in jobs))
        self.ask(decisions, jobs, now=1001.0)
        self.assertEqual({"slot-limit"}, {job.reason.code.name for job in jobs})

    def test_they_are_told_again_after_a_pause(self):
        decisions = self.limited("fcfs", foreground_slots_per_user=0)
        job = queued(1)
        self.ask(decisions, [job])
        job.reason = waits.PAUSED()
        decisions.forget_jobs()
        self.ask(decisions, [job], now=1001.0)
        self.assertEqual("slot-limit", job.reason.code.name)

    def test_without_limits_nothing_is_barred(self):
        first, second = running(1, cpu=1.0), queued(1)
        found = self.ask(self.limited("fcfs"), [first, second], servers(first))
        self.assertEqual([(START, second.number)], found)
