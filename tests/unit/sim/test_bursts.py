"""Bursts of short jobs in a workload, and the study of what they wait."""

import pandas
import testtools

from nova_twotier.core.actions import BG, FG, Move, Start
from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.nodes import Nodes
from nova_twotier.core.snapshot import Event, Snapshot
from nova_twotier.sim import bursts, variants
from nova_twotier.sim.reproduce import bursts as study
from nova_twotier.sim.workloads import catalogue
from tests.unit.core.builders import job
from tests.unit.sim.test_reproduce import ReproduceCase


class TestBursts(testtools.TestCase):
    def test_added(self):
        plain = catalogue.load("lublin:100", nodes=64)
        made = bursts.added(plain, 3, seed=1)
        first = bursts.first_number(plain)
        self.assertEqual(plain.jobs, tuple(each for each in made.jobs if each.number < first))
        short = [each for each in made.jobs if each.number >= first]
        self.assertEqual(3 * bursts.JOBS, len(short))
        self.assertEqual({bursts.SIZE}, {each.size for each in short})
        for burst in range(3):
            numbers = range(first + burst * bursts.JOBS, first + (burst + 1) * bursts.JOBS)
            arrivals = [each.arrival for each in short if each.number in numbers]
            self.assertEqual(sorted(arrivals), arrivals)
            self.assertLess(arrivals[-1] - arrivals[0], 2 * bursts.JOBS * bursts.GAP)
        self.assertEqual(made, bursts.added(plain, 3, seed=1))
        self.assertNotEqual(made, bursts.added(plain, 3, seed=2))

    def test_summarise(self):
        jobs = pandas.DataFrame(
            {
                "job": [1, 10, 11, 10 + bursts.JOBS],
                "wait": [7.0, 10.0, 20.0, 40.0],
                "bounded_slowdown": [1.0, 2.0, 3.0, 7.0],
            }
        )
        expected = {bursts.SLOWDOWN: 4.0, bursts.OTHERS: 1.0, bursts.LONGEST: 40.0}
        self.assertEqual(expected, bursts.summarise(jobs, 10))


class TestOtherReadings(testtools.TestCase):
    def promoted(self, name, count, background, waiting, taken=()):
        """Numbers of the jobs that the policy starts in the foreground, or promotes to it.

        :param background: on the first of the nodes.
        :param taken: nodes whose foreground earlier jobs have.
        """
        nodes = Nodes(count)
        for each in background:
            nodes.start(each, BG)
        for host in taken:
            nodes.start(job(-host), FG, [host])
        return {each.job.number for each in self.entered(name, nodes, waiting)}

    def entered(self, name, cluster, waiting=()):
        """The actions that start jobs in the foreground, or promote them to it."""
        snapshot = Snapshot(cluster)
        for each in waiting:
            snapshot.queue.add(each)
        actions = variants.get(name).schedule(snapshot, Event.FOREGROUND, 10.0)
        return [each for each in actions if isinstance(each, Start | Move) and each.tier is FG]

    def test_those_that_wait_pass_those_in_the_background(self):
        below, waiting = [job(1, 2)], [job(2, 2)]
        self.assertEqual({1}, self.promoted("cmcbf", 3, below, waiting))
        self.assertEqual({2}, self.promoted("cmcbf-waiting-first", 3, below, waiting))

    def test_what_they_leave_goes_by_arrival(self):
        below, waiting = [job(1, 3), job(2), job(3)], [job(4, 3)]
        self.assertEqual({2, 3, 4}, self.promoted("cmcbf-waiting-first", 5, below, waiting))
        self.assertEqual({1, 2}, self.promoted("cmcbf-waiting-first", 5, below[:2], []))

    def test_nobody_is_moved_to_another_host(self):
        """Of two below one idle slot, the earlier moves up, though the other would find one."""
        for name, expected in (("cmcbf", {1: (0,), 2: (1,)}), ("cmcbf-in-place", {1: (0,)})):
            hosts = Hosts([Host("a", 2), Host("b", 1)])
            for each in (job(1), job(2)):
                hosts.start(each, BG, [0])
            hosts.start(job(-1), FG, [0])
            moves = self.entered(name, hosts)
            self.assertEqual(expected, {move.job.number: move.after for move in moves})

    def test_those_who_cannot_move_up_in_place_are_passed(self):
        below, waiting = [job(1, 2), job(2)], [job(3, 2)]
        self.assertEqual({1, 2}, self.promoted("cmcbf", 5, below, waiting, taken=[1]))
        self.assertEqual({2, 3}, self.promoted("cmcbf-in-place", 5, below, waiting, taken=[1]))
        self.assertEqual({1, 2, 3}, self.promoted("cmcbf-in-place", 5, below, waiting))


class TestStudy(ReproduceCase):
    def test_everything(self):
        self.patch(study, "BURSTS", 1)
        rows, page = self.works("bursts", "--traces", self.traces(), "--seeds", "2")
        self.assertEqual(
            [claim.text for claim in study.STUDY.claims], [each["finding"] for each in rows]
        )
        # EASY is run once.
        self.assertEqual(2 * (6 * 2 + 1), len(list((self.out / "runs").glob("*.json"))))
        for place in study.PLACES:
            self.assertIn(f"<caption>{place}</caption>", page)
        for series in study.SCENARIOS:
            self.assertIn(series, page)
