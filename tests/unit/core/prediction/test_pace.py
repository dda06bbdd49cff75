"""How jobs slow each other down, by SDPN and by Hanzich."""

import math

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.cluster import Host
from nova_twotier.core.hosts import Hosts
from nova_twotier.core.nodes import Nodes
from nova_twotier.core.prediction import hanzich, sdpn
from nova_twotier.core.prediction.node_rates import NodeRates, serves
from nova_twotier.core.prediction.nodes import InvalidNode, Node
from nova_twotier.core.prediction.pace import Seated
from nova_twotier.core.prediction.slot_rates import SlotRates
from nova_twotier.core.progress import MODELS
from tests.unit.core.builders import BG, FG, cluster, hosts, job, jobs


def rates(on, slowdowns):
    return dict(Seated(slowdowns).on(on).placed(on.runs.values()))


@st.composite
def occupied(draw):
    """A cluster with jobs in both tiers."""
    on = Hosts(draw(hosts()))
    for each in draw(jobs(max_size=3)):
        tier = draw(st.sampled_from((FG, BG)))
        if on.fits(each, tier):
            on.start(each, tier)
    return on


class TestTiers(testtools.TestCase):
    @given(occupied(), st.data())
    def test_rates_follow_changes(self, on, data):
        """Whatever comes and goes, they are as if everything had been placed at once."""
        followed = Seated(sdpn.Slowdowns()).on(on)
        seen = dict(followed.placed(on.runs.values()))
        for number in data.draw(st.lists(st.sampled_from([*on.runs, None]), unique=True)):
            if number is not None:
                on.remove(on.runs[number].job)
                followed.gone(number)
                del seen[number]
        came = []
        for each in data.draw(jobs(max_size=2)):
            renamed = job(100 + each.number, each.size, each.hottest)
            if on.fits(renamed, FG):
                came.append(on.start(renamed, FG))
        seen |= dict(followed.placed(came))
        self.assertEqual(rates(on, sdpn.Slowdowns()), seen)

    def test_hanzich_counts_those_who_share_a_slot(self):
        on = cluster(1, 1)
        on.start(job(1, 2, 0.1), FG)
        on.start(job(2, 1, 0.1), BG)
        self.assertEqual({1: 0.5, 2: 0.5}, rates(on, hanzich.Slowdowns()))


class TestFull(testtools.TestCase):
    """On full nodes, rates follow from less work, and are the same to the digit."""

    @given(st.booleans(), jobs(max_size=4, max_jobs=8), st.data())
    def test_nodes_of_one_slot(self, named, drawn, data):
        self.assert_follows(NodeRates, Nodes(6) if named else cluster(*(1,) * 6), drawn, data)

    @given(hosts(), jobs(max_size=4, max_jobs=8), st.data())
    def test_any_hosts(self, hosts, drawn, data):
        self.assert_follows(SlotRates, Hosts([*hosts, Host("more slots", 4)]), drawn, data)

    def assert_follows(self, kind, on, drawn, data):
        """Whatever comes and goes, the rates are those of processes that are arranged."""
        followed, seen = sdpn.Full(MODELS["tpds"]).on(on), {}
        self.assertIsInstance(followed, kind)
        for _pass in range(data.draw(st.integers(1, 5))):
            running = st.sampled_from([*on.runs, None])
            for number in data.draw(st.lists(running, unique=True)):
                if number is not None:
                    on.remove(on.runs[number].job)
                    followed.gone(number)
                    del seen[number]
            came = []
            for each in data.draw(st.permutations(drawn)):
                tier = data.draw(st.sampled_from((FG, BG, None)))
                if tier is not None and each.number not in on.runs and on.fits(each, tier):
                    came.append(on.start(each, tier))
            seen |= dict(followed.placed(came))
            self.assertEqual(rates(on, sdpn.Slowdowns()), seen)

    def test_the_slowest_process_is_another(self):
        """Of a job behind two others, once each of them leaves, and again when others come."""
        on = Nodes(2)
        on.start(job(1, 1, 0.9), FG, (0,))
        on.start(job(2, 1, 0.5), FG, (1,))
        on.start(job(3, 2, 0.8), BG, (0, 1))
        followed = sdpn.Full(MODELS["tpds"]).on(on)
        seen = [dict(followed.placed(list(on.runs.values())))[3]]
        for leaving in (1, 2):
            on.remove(on.runs[leaving].job)
            followed.gone(leaving)
            seen.append(dict(followed.placed([]))[3])
            self.assertEqual(rates(on, sdpn.Slowdowns())[3], seen[-1])
        self.assertEqual(sorted(set(seen)), seen)
        on.start(job(4, 1, 0.1), FG, (1,))
        came = dict(followed.placed([on.start(job(5, 1, 0.9), FG, (0,)), on.runs[4]]))
        self.assertEqual(seen[0], came[3])

    def test_hosts_with_room_for_more(self):
        for others in ([Host("more slots", 2)], [Host("more tiers", 1, tiers=3)]):
            self.assertFalse(serves(Hosts([Host("plain", 1), *others])))
        overfull = cluster(1, 1)
        overfull.start(job(1), FG, [0])
        self.assertTrue(serves(overfull))
        overfull.adopt(overfull.runs[1]._replace(job=job(2)))
        self.assertFalse(serves(overfull))
        # Two processes in the foreground have a slot each: neither is disturbed.
        found = dict(sdpn.Full(MODELS["tpds"]).on(overfull).placed(overfull.runs.values()))
        self.assertEqual({1: 1.0, 2: 1.0}, found)


class TestNodes(testtools.TestCase):
    """Equations 1 to 4 of CISNE."""

    def test_the_weakest_node_decides(self):
        nodes = [Node(power=0.5), Node(local=0.2), Node()]
        on = cluster(1, 1, 1, tiers=1)
        on.start(job(1, 1), FG, [2])
        on.start(job(2, 2), FG, [0, 1])
        found = rates(on, sdpn.Slowdowns(nodes))
        self.assertAlmostEqual(1, found[1])
        self.assertAlmostEqual(0.5, found[2])
        on.remove(on.runs[2].job)
        on.start(job(3, 1), FG, [1])
        self.assertAlmostEqual(0.8, rates(on, sdpn.Slowdowns(nodes))[3])

    def test_processes_that_share_a_cpu_find_what_the_others_leave(self):
        nodes = [Node(cpus=1, local=0.2)]
        on = cluster(3, tiers=1)
        on.start(job(1, 1, 0.1), FG)
        on.start(job(2, 1, 0.5), FG)
        found = rates(on, sdpn.Slowdowns(nodes))
        self.assertAlmostEqual(0.4, found[1])  # its fair share of 0.8
        self.assertAlmostEqual(0.7, found[2])
        on.start(job(3, 1, 0.5), FG)
        self.assertAlmostEqual(0.8 / 3, rates(on, sdpn.Slowdowns(nodes))[1])
        self.assertEqual({1 / 3}, set(rates(on, hanzich.Slowdowns(nodes)).values()))

    def test_the_most_saturated_link_decides(self):
        nodes = [Node(mbps=100), Node(mbps=100, local_mbps=50)]
        on = cluster(2, 2, tiers=1)
        on.start(job(1, 2, 0.5, mbps=80.0), FG, [0, 1])
        on.start(job(2, 1, 0.5, mbps=20.0), FG, [1])
        on.start(job(3, 1, 0.5, mbps=20.0), FG, [0])
        found = rates(on, sdpn.Slowdowns(nodes))
        # 100 Mbit/s are wanted where 50 are left: SC = 2 for whoever communicates there.
        self.assertAlmostEqual(1 / (0.5 + 0.5 * 2), found[1])
        self.assertAlmostEqual(1 / (0.5 + 0.5 * 2), found[2])
        self.assertAlmostEqual(1, found[3])
        self.assertEqual({1.0}, set(rates(on, hanzich.Slowdowns(nodes)).values()))

    def test_a_node_that_cannot_be_is_refused(self):
        for wrong in (
            {"power": 0},
            {"power": 1.1},
            {"local": 1},
            {"local": -0.1},
            {"cpus": 0},
            {"mbps": 10, "local_mbps": 10},
            {"power": math.nan},
        ):
            error = self.assertRaises(InvalidNode, Node, **wrong)
            self.assertIn(str(list(wrong.values())[-1]), str(error))
