"""What processes find of shared slots, kept in arrays: as if all hosts were arranged anew."""

import math

import numpy
import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core.jobs import Job
from nova_twotier.sim.many_hosts import ManyHosts
from nova_twotier.sim.many_neighbours import ManyNeighbours
from tests.unit.core.builders import BG, FG, utilisation
from tests.unit.core.test_neighbours import found_on_arranged_hosts, matters

FLOOR = 0.04


class TestManyNeighbours(testtools.TestCase):
    @settings(max_examples=300)
    @given(
        st.integers(1, 3),
        st.integers(1, 4),
        st.integers(2, 3),
        st.sampled_from((0.5, 0.96, 2.0)),
        st.data(),
    )
    def test_as_if_all_hosts_were_arranged_anew(self, count, slots, tiers, threshold, data):
        cluster = ManyHosts(count, slots, tiers, threshold)
        neighbours, jobs, seen = ManyNeighbours(cluster, FLOOR), {}, {}
        for _pass in range(data.draw(st.integers(1, 6))):
            for number in self.change(cluster, neighbours, jobs, data):
                seen.pop(number, None)  # it is told of even if it has come back
            found = found_on_arranged_hosts(cluster, jobs)
            told = neighbours.changed()
            for number, (tier, *_job) in jobs.items():
                idle, before = found[number], seen.get(number)
                self.assertEqual(idle, neighbours.idle[neighbours.processes[number]].tolist())
                self.assertEqual(min(idle) < math.inf, neighbours.shares(number))
                self.assertEqual(matters(tier, before, idle), number in told, number)
            seen = found

    def change(self, cluster, neighbours, jobs, data):
        """Let some jobs leave, and others come, or the same again; returns those that left."""
        going = data.draw(st.lists(st.sampled_from(sorted(jobs)), unique=True)) if jobs else []
        for number in going:
            cluster.remove(cluster.runs[number].job)
            neighbours.leave(number, jobs.pop(number)[0])
        free = [number for number in range(1, 9) if number not in jobs]
        coming = []
        for number in data.draw(st.lists(st.sampled_from(free), unique=True)) if free else []:
            tier = data.draw(st.sampled_from((FG, BG)))
            room = cluster.idle[tier]
            if not room:
                continue
            size = data.draw(st.integers(1, room))
            known, own = (
                tuple(data.draw(st.lists(utilisation, min_size=size, max_size=size)))
                for _kind in range(2)
            )
            places = data.draw(st.permutations(cluster.rank(tier, room)))[:size]
            cluster.start(Job(number, size, 0.0, known), tier, places)
            jobs[number] = tier, places, known, own
            coming.append(number)
        for number in coming:
            tier, _places, known, own = jobs[number]
            neighbours.come(number, tier, None if own == known else numpy.array(own))
        return going
