"""Whatever kind of cluster a run takes because it is faster, its results are the plain one's."""

import math
from unittest import mock

import pandas
import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core.hosts import Hosts
from nova_twotier.core.nodes import Nodes
from nova_twotier.sim import machine, simulation
from nova_twotier.sim.many_hosts import ManyHosts
from nova_twotier.sim.many_nodes import ManyNodes
from nova_twotier.sim.simulation import simulate
from tests.unit.sim.run_builders import TWO_TIER, hosts, running_on, scenarios, workloads


class TestSameResults(testtools.TestCase):
    @settings(max_examples=150)
    @given(workloads(), st.booleans(), st.data())
    def test_on_hosts_of_one_slot(self, workload, many, data):
        scenario = data.draw(
            scenarios([name for name in TWO_TIER if name != "ktier-cmbf"], slots=1, tiers=2)
        )
        with mock.patch.object(machine, "MANY", 1 if many else math.inf):
            fast = simulate(workload, scenario, record=True)
        with mock.patch.object(simulation, "make_cluster", plain_cluster):
            plain = simulate(workload, scenario, record=True)
        self.assert_same(fast, plain)

    @settings(max_examples=150)
    @given(workloads(), st.integers(1, 4), st.integers(2, 3), st.data())
    def test_on_hosts_of_several_slots(self, workload, slots, tiers, data):
        names = [name for name in TWO_TIER if tiers > 2 or name != "ktier-cmbf"]
        scenario = data.draw(scenarios(names, slots=slots, tiers=tiers))
        results = []
        for many in (1, math.inf):
            with mock.patch.object(machine, "MANY", many):
                results.append(simulate(workload, scenario, record=True))
        self.assert_same(*results)

    def assert_same(self, fast, plain):
        pandas.testing.assert_frame_equal(fast.jobs, plain.jobs, rtol=0, atol=1e-6)
        # Stays of no length may come of rounding.
        pandas.testing.assert_frame_equal(
            lasting(fast.schedule), lasting(plain.schedule), rtol=0, atol=1e-6
        )
        self.assertAlmostEqual(fast.busy, plain.busy, 4)

    def test_they_are_different_ways(self):
        kinds = (Nodes, ManyNodes, hosts, lambda count: ManyHosts(count, 1))
        ways = {type(running_on(kind(1))).settle for kind in kinds}
        self.assertEqual(4, len(ways))


def plain_cluster(nodes, scenario, policy, *, named, rng):
    unknown = rng if scenario.utilisation.error is None else None
    return Hosts(hosts(nodes).hosts, scenario.threshold, unknown)


def lasting(schedule):
    return schedule[schedule["end"] - schedule["begin"] > 1e-6].reset_index(drop=True)
