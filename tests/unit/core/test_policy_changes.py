"""A pool's policy may change at any time: no job is lost, and no slot is given twice."""

import itertools

import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import policies
from nova_twotier.core.actions import Evict, Kill, Move
from nova_twotier.core.cluster import Host
from tests.unit.core.builders import BG, FG, hosts, job, jobs
from tests.unit.core.driver import Driver

names = st.sampled_from(sorted(policies.POLICIES))


class TestAnyChange(testtools.TestCase):
    """The driver checks each decision, and that all jobs end at last."""

    @settings(max_examples=300)
    @given(hosts(), st.data())
    def test_any_stream(self, shapes, data):
        stream = data.draw(jobs(max_size=sum(shape.slots for shape in shapes)))
        driver = Driver(self, data.draw(names), shapes)
        total, departures = len(stream), 0
        while stream:
            running = sorted(driver.cluster.runs)
            match data.draw(st.sampled_from(("arrive", "depart", "change"))):
                case "depart" if running:
                    driver.depart(data.draw(st.sampled_from(running)))
                    departures += 1
                case "change":
                    driver.change_policy(data.draw(names))
                case _:
                    driver.arrive(stream.pop(0))
        self.assertEqual(total, departures + driver.finish())

    def test_every_pair(self):
        """With jobs in the foreground, the background and the queue."""
        for before, after in itertools.permutations(policies.POLICIES, 2):
            driver = Driver(self, before, [Host("a", 2), Host("b", 2, 3)])
            sizes = ((2, 0.5), (2, 0.96), (1, 0.3), (3, 0.5), (4, 1.0), (1, 0.9))
            for number, (size, cpu) in enumerate(sizes, start=1):
                driver.arrive(job(number, size, cpu, estimate=10.0 * size))
            driver.change_policy(after)
            driver.arrive(job(7, 2, 0.5, estimate=5.0))
            driver.change_policy(before)
            driver.finish()
            self.assertEqual({*range(1, 8)}, driver.finished, (before, after))


class TestToOneTier(testtools.TestCase):
    """Jobs that run in the background when a policy with one tier takes over."""

    ONE = sorted(name for name, policy in policies.POLICIES.items() if policy.tiers == 1)

    def changed(self, policy):
        driver = Driver(self, "amcbf", [Host("a", 2)])
        driver.arrive(job(1, 2, 0.3))
        driver.arrive(job(2, 2, 0.3))
        self.assertEqual([2], [run.job.number for run in driver.cluster.running(BG)])
        return driver, driver.change_policy(policy)

    def test_they_stay_there_until_they_end(self):
        for policy in self.ONE:
            driver, actions = self.changed(policy)
            self.assertEqual([], actions, policy)
            driver.arrive(job(3, 2, 1.0))
            actions = driver.depart(1)
            # The next one takes the foreground; nobody is moved, saved or killed for it.
            self.assertEqual([], [a for a in actions if isinstance(a, Move | Evict | Kill)], policy)
            tiers = {n: run.tier for n, run in driver.cluster.runs.items()}
            self.assertEqual({2: BG, 3: FG}, tiers, policy)
            driver.depart(2)
            driver.finish()

    def test_they_are_promoted_if_two_tiers_return(self):
        for policy in self.ONE:
            driver, _actions = self.changed(policy)
            driver.depart(1)
            driver.change_policy("amcbf")
            self.assertIs(FG, driver.cluster.runs[2].tier, policy)
