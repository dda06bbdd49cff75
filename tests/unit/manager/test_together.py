"""What limits, priorities, fair share, gates and drains do to each other."""

from dataclasses import replace
from unittest import mock

import testtools

from nova_twotier.db.dependencies import Condition, Dependency
from nova_twotier.db.states import JobState
from tests.unit.manager import builders
from tests.unit.manager.builders import BG, FG
from tests.unit.manager.engine_case import PollCase

#: The hosts of a job that takes all slots of a tier.
ALL_SLOTS = tuple("aaaabbbb")


class TogetherCase(PollCase):
    def start(self):
        self.engine = self.make_engine("amcbf")
        self.engine._hosts.close = lambda _closed: None


class TestLimits(TogetherCase):
    def test_a_job_whose_flavor_is_closed_to_its_tier_meanwhile(self):
        self.options = {"max_background_slots_per_user": 0}
        self.start()
        job = self.running(
            size=2, number=1, tier=FG, started_at=1.0, flavor="background", user_id="u"
        )
        gang = builders.servers(job, hosts=("b",))
        self.engine._open_jobs.limit_tiers({"background": (BG,)})
        for _each in range(2):
            self.poll(gang)
            self.now += 10
        self.assertEqual(JobState.RUNNING, self.store.job(1).state)


class TestPriorities(TogetherCase):
    def test_set_back_to_0_they_give_the_places_back(self):
        running = self.running(size=8, number=1)
        gang = builders.servers(running, hosts=ALL_SLOTS)
        first, second = (
            self.store.submit(8, [0.5], project_id="a", at=at).number for at in (10.0, 20.0)
        )
        for priority, ahead in ((5, second), (0, first)):
            with self.store.transaction() as session:
                session.merge(self.store.job(second)).priority = priority
            self.poll(gang)
            self.poll(gang)
            self.assertEqual(ahead, min((first, second), key=lambda n: self.store.job(n).place))

    def test_a_place_with_the_offset_of_another_is_no_arrival(self):
        job = builders.job(number=2, tier=None, submitted_at=10.0, eligible_at=10.0)
        job.take_place(90000.0)
        job.place_behind(0.0)
        job.enter_queue(100.0)
        self.assertEqual((100.0, None), (job.eligible_at, job.queue_offset))


class TestGates(TogetherCase):
    def test_a_job_that_comes_in_ahead_of_others_may_preempt_at_once(self):
        self.start()
        other = builders.job(
            size=1,
            number=1,
            state=JobState.FINISHED,
            tier=None,
            started_at=5.0,
            finished_at=40.0,
        )
        with self.store.transaction() as session:
            session.add(other)
        gangs = []
        for number, tier, submitted in ((2, FG, 50.0), (3, BG, 60.0)):
            job = self.running(
                size=8, number=number, tier=tier, started_at=60.0, submitted_at=submitted, cpu=0.5
            )
            gangs.append(builders.servers(job, hosts=ALL_SLOTS))
        self.poll(*gangs, tiers=[FG, BG])
        self.assertEqual([], self.opened())
        dependency = Dependency(other.number, Condition.OVER)
        self.store.submit(8, [0.5], at=10.0, dependencies=[dependency])
        self.now += 1
        self.poll(*gangs, tiers=[FG, BG])
        self.poll(*gangs, tiers=[FG, BG])
        self.assertNotEqual([], self.opened())


class TestDrains(TogetherCase):
    def test_a_job_is_moved_although_the_policy_had_something_to_do_first(self):
        self.start()
        self.engine._drains.vacated = frozenset({"a"})
        above = self.running(size=2, number=1, tier=BG, started_at=1.0)
        there = self.running(size=1, number=2, tier=FG, started_at=1.0)
        gangs = builders.servers(above, hosts=("b",)), builders.servers(there, hosts=("a",))
        kinds = []
        swapped = mock.patch("nova_twotier.manager.operations.swap.change_tiers", return_value="")
        with swapped:
            for _each in range(12):
                tier = FG if self.store.job(1).tier == FG else BG
                seen = builders.seen(*gangs, tiers=[tier, FG], at=self.now)
                self.engine.seen = replace(seen, enabled=frozenset({"b"}))
                self.engine.poll()
                self.now += 10
                kinds += [action[0] for action in self.opened()]
        self.assertIn("vacate", kinds)


class TestRequeue(testtools.TestCase):
    def test_who_begins_anew_for_another_reason_has_been_requeued(self):
        job = builders.job(number=1, requested_action="requeue")
        job.begin_anew(10.0)
        self.assertIsNone(job.requested_action)
        job.requested_action = "cancel"
        job.begin_anew(10.0)
        self.assertEqual("cancel", job.requested_action)
