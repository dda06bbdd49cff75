"""When the leader of a pool takes samples of it, and what is in them."""

import types
from unittest import mock

from nova_twotier.core.actions import Tier
from nova_twotier.db import terms, utilisation
from nova_twotier.db.heartbeats import LONGEST_POLL
from nova_twotier.db.models import Leader
from nova_twotier.db.states import ActionKind, ActionState
from nova_twotier.db.terms import Deposed
from nova_twotier.db.utilisation import HOUR, MINUTE, Window
from nova_twotier.manager import gauges
from nova_twotier.manager.counters import Counters
from nova_twotier.manager.pool_metrics import PoolMetrics
from nova_twotier.manager.round import Round
from nova_twotier.manager.utilisation import Utilisation
from tests.unit.manager import builders
from tests.unit.manager.engine_case import PollCase

#: The begin of an hour.
START = 1_790_000_000 // HOUR * HOUR


class SampledCase(PollCase):
    def setUp(self):
        super().setUp()
        self.term = terms.begin(self.store, "default", "manager")
        self.metrics = PoolMetrics(Counters(), "default")
        self.metrics.lead()
        self.engine = self.make_engine(metrics=self.metrics)
        self.history = self.new_history()

    def new_history(self):
        def fence(session, lock=False):
            terms.require(session, "default", self.term, lock)

        return Utilisation(self.store, "default", fence, self.metrics)

    def sample(self, at, *gangs):
        """A poll, and what comes after it at this time, in seconds from the start."""
        self.poll(*gangs)
        # As if some seconds had passed.
        self.metrics._due_at = 0.0
        self.history.poll(START + at)

    @property
    def intervals(self):
        window = Window(START, START + HOUR, MINUTE, MINUTE)
        with self.store.reading() as session:
            return utilisation.read(session, ["default"], window).intervals

    @property
    def times(self):
        return [each.at - START for each in self.intervals]


class TestSamples(SampledCase):
    def test_what_a_pool_is_like(self):
        job = self.running(size=2, cpu=0.5, tier="fg")
        self.store.submit(3, [], held=True, at=1)
        self.sample(5.0, builders.servers(job))
        [found] = self.intervals
        slots = builders.seen().hosts
        places = {tier: sum(host.shape.places(tier) for host in slots) for tier in Tier}
        shown = self.metrics.gauges
        for tier in Tier:
            self.assertEqual(
                (places[tier], shown.used[tier], shown.free[tier]),
                tuple(found.means[f"{tier}_{what}"] for what in ("slots", "used", "free")),
            )
        self.assertEqual(
            (1, 1, 3, 2),
            tuple(
                found.means[f"{phase}_{what}"]
                for what in ("jobs", "processes")
                for phase in ("waiting", "running")
            ),
        )

    def test_one_a_minute(self):
        for at in (0.0, 1.0, 59.9, 61.0, 119.0, 120.0):
            self.sample(at)
        self.assertEqual([0, 60, 120], self.times)
        self.assertEqual({60}, {each.seconds for each in self.intervals})

    def test_gauges_are_taken_for_samples_alone(self):
        with mock.patch.object(gauges, "take", wraps=gauges.take) as take:
            for at in (0.0, 1.0, 2.0, 61.0):
                self.sample(at)
        self.assertEqual(2, take.call_count)

    def test_those_that_are_exported_are_used(self):
        self.poll()
        self.metrics.refresh()
        self.history.poll(START)
        with mock.patch.object(gauges, "take") as take:
            self.history.poll(START + 61.0)
            take.assert_not_called()
        self.assertEqual([0, 60], self.times)

    def test_nothing_before_the_first_poll(self):
        self.history.poll(START)
        self.assertEqual([], self.times)

    def test_a_long_poll_is_no_gap(self):
        for at in (0.0, 60.0 + LONGEST_POLL):
            self.sample(at)
        self.assertEqual([0, 60, 120, 180], self.times)

    def test_time_without_a_manager_is_a_gap(self):
        self.sample(0.0)
        self.sample(300.0)
        self.assertEqual([0, 300], self.times)
        # Another one may have led meanwhile.
        self.history = self.new_history()
        self.sample(420.0)
        self.assertEqual([0, 300, 420], self.times)

    def test_a_clock_that_was_set_back(self):
        for at in (300.0, 60.0, 121.0):
            self.sample(at)
        self.assertEqual([60, 120, 300], self.times)


class TestLost(SampledCase):
    def lose(self, seconds):
        self.metrics.lost_seconds += seconds

    def lost(self):
        return {each.at - START: each.lost for each in self.intervals}

    def test_it_counts_once_and_when_it_happens(self):
        self.lose(5.0)
        self.sample(0.0)
        self.sample(60.0)
        self.lose(7.0)
        self.sample(61.0)
        self.lose(1.0)
        self.sample(200.0)
        self.assertEqual({0: 5.0, 60: 0.0, 120: 0.0, 180: 8.0}, self.lost())

    def test_what_was_lost_in_an_earlier_term(self):
        self.lose(5.0)
        self.sample(0.0)
        self.metrics.resign()
        self.metrics.lead()
        self.history = self.new_history()
        self.lose(2.0)
        self.sample(60.0)
        self.assertEqual({0: 5.0, 60: 2.0}, self.lost())

    def test_what_could_not_be_written(self):
        self.lose(5.0)
        with mock.patch.object(utilisation, "expire", side_effect=ZeroDivisionError):
            self.assertRaises(ZeroDivisionError, self.sample, 0.0)
        self.assertEqual([], self.times)
        self.sample(1.0)
        self.assertEqual({0: 5.0}, self.lost())

    def test_the_same_as_the_counter(self):
        """A job on two slots begins anew after 70 seconds."""
        counters = Counters()
        self.metrics = PoolMetrics(counters, "default")
        self.metrics.lead()
        self.history = self.new_history()
        job = builders.job(size=2, run_since=0.0)
        begins_anew = builders.action(ActionKind.END, job)
        begins_anew.state, begins_anew.closed_at = ActionState.DONE, 70.0
        for now, opened in ((10.0, []), (50.0, []), (70.0, [begins_anew])):
            job.discarded_at = now if opened else None
            work = Round(
                seen=builders.seen(at=now),
                env=types.SimpleNamespace(now=now, threshold=0.96),
                jobs={job.number: job},
                plain_waiting={},
                behind_limit={},
                active=[job],
                opened=opened,
                mode="active",
                stand_alone={},
            )
            self.metrics.polled(work, {(job.number, "fg"): 2})
        self.history.poll(START)
        self.assertEqual({0: 140.0}, self.lost())
        labels = {"pool": "default"}
        counted = counters.registry.get_sample_value("twotier_lost_process_seconds_total", labels)
        self.assertEqual(140.0, counted)


class TestLeaders(SampledCase):
    def test_one_that_was_replaced_writes_nothing(self):
        self.sample(0.0)
        terms.begin(self.store, "default", "other")
        self.poll()
        self.assertRaises(Deposed, self.history.poll, START + 60.0)
        self.assertEqual([0], self.times)

    def test_readers_are_not_told_that_jobs_have_changed(self):
        def revision():
            with self.store.reading() as session:
                return session.get(Leader, "default").revision

        self.poll()
        before = revision()
        self.history.poll(START)
        self.assertEqual([0], self.times)
        self.assertEqual(before, revision())
