"""Runs on a network that guarantees bandwidth, with and without a queue."""

from unittest import mock

import numpy
import testtools
from hypothesis import given, settings
from hypothesis import strategies as st

from nova_twotier.core import embedding, policies
from nova_twotier.core.actions import Evict, Start
from nova_twotier.core.embedding import Embedding, InvalidTopology, Request, State, Topology
from nova_twotier.core.linked import Linked
from nova_twotier.core.snapshot import Event, Snapshot
from nova_twotier.sim import metrics, network, rivals, variants
from nova_twotier.sim.scenario import InvalidScenario, Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads.bandwidth import Bandwidth, InvalidBandwidth
from nova_twotier.sim.workloads.memoryless import Memoryless
from tests.unit.core.builders import FG, job
from tests.unit.core.test_linked import TREE, check, check_account, star
from tests.unit.sim.run_builders import workload

EMBEDDING = sorted(name for name, policy in policies.POLICIES.items() if policy.embeds)
ONE_TIER = [name for name in EMBEDDING if policies.POLICIES[name].tiers == 1]
AS_PRINTED = sorted(name for name, policy in variants.VARIANTS.items() if policy.embeds)
#: Two hosts of two slots, links of 100 Mbit/s.
PAIR = {"slots": 2, "topology": "fat-tree:2:100"}

rows = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 48), st.integers(0, 20)), min_size=1, max_size=15
)


class TestTopology(testtools.TestCase):
    def test_names(self):
        self.assertEqual(54, len(network.topology("fat-tree:6").hosts))
        rates = [
            network.topology(text).rate[-2]
            for text in ("fat-tree:4", "fat-tree:4:10", "fat-tree:4:10:1:3")
        ]
        self.assertEqual([4000, 40, 30], rates)
        self.assertEqual((1000, 25), (network.link_rate(None), network.link_rate("fat-tree:2:25")))

    def test_what_there_is_not(self):
        for text in (
            "fat-tree",
            "tree:4",
            "fat-tree:x",
            "fat-tree:4:5:6",
            "fat-tree:4:5:single",
            "fat-tree:5",
            "",
        ):
            self.assertRaises(InvalidTopology, network.topology, text)


class TestScenario(testtools.TestCase):
    def refused(self, words, **fields):
        error = self.assertRaises(ValueError, Scenario, **({"policy": "fcfs"} | fields))
        self.assertIn(words, str(error))

    def test_mistakes(self):
        self.refused("choose one of: adaba, ", embedding="x")
        self.refused("greedy-anywhere", embedding="x")
        self.refused("give fat-tree:K", topology="x")
        self.refused("give by-size", bandwidth="x")
        self.refused("easy cannot decide on a topology", policy="easy", topology="fat-tree:2")
        self.refused("cmcbf cannot decide without a queue", policy="cmcbf", queueing=False)
        self.refused(
            "cmcbf cannot decide without a queue",
            policy="cmcbf",
            topology="fat-tree:2",
            queueing=False,
        )

    def test_other_nodes_than_the_topology_has(self):
        error = self.assertRaises(
            InvalidScenario, simulate, workload(5, (0, 1, 1)), Scenario("fcfs", **PAIR)
        )
        self.assertIn("has 4 slots; the workload is for 5", str(error))


class TestRuns(testtools.TestCase):
    def jobs(self, policy, *rows, mbps, **options):
        """The result of jobs that ask for these bandwidths."""
        with mock.patch.object(Bandwidth, "draw", return_value=iter(mbps)):
            scenario = Scenario(policy, bandwidth="by-size", **(PAIR | options))
            return simulate(workload(2 * scenario.slots, *rows), scenario)

    def test_a_link_that_is_full(self):
        """When 1 and 2 have left, there are slots enough for 4, but 3 is on both links."""
        rows = (0, 2, 5), (0, 2, 5), (1, 2, 20), (6, 3, 10)
        found = self.jobs("fcfs", *rows, mbps=(0, 0, 60, 60), slots=3)
        self.assertEqual([5, 5, 21, 31], list(found.jobs["finish"]))
        found = self.jobs("fcfs", *rows, mbps=(0, 0, 60, 40), slots=3)
        self.assertEqual([5, 5, 21, 16], list(found.jobs["finish"]))

    def test_suspended_and_restored(self):
        rows = (0, 3, 10), (1, 4, 10), (2, 1, 30)
        found = self.jobs("bgmbf", *rows, mbps=(10, 10, 0)).jobs
        # 3 runs from 2 to 10 and is restored at 20, which takes 20 s.
        self.assertEqual([10, 20, 62], list(found["finish"]))
        self.assertEqual([0, 0, 1], list(found["evictions"]))
        self.assertEqual([0, 0, 1], list(found["migrations"]))

    def test_too_much_for_the_empty_network(self):
        found = self.jobs("fcfs", (0, 4, 10), (1, 4, 10), (2, 5, 1), mbps=(51, 50))
        self.assertEqual([2], list(found.jobs["job"]))
        reasons = dict(found.rejected[["job", "reason"]].to_numpy().tolist())
        self.assertIn("51 Mbit/s each", reasons[1])
        self.assertEqual("needs 5 slots; the cluster has 4", reasons[3])

    def test_without_a_queue(self):
        rows = (0, 3, 10), (5, 3, 1), (10, 3, 10), (11, 1, 1), (12, 2, 5)
        found = self.jobs("fcfs", *rows, mbps=(50,) * 5, queueing=False)
        # 3 arrives when 1 ends; 5 finds one slot.
        self.assertEqual([1, 3, 4], list(found.jobs["job"]))
        self.assertEqual([2, 5], list(found.rejected["job"]))
        self.assertEqual([0, 10, 11], list(found.jobs["start"]))
        row = metrics.summarise(found)
        # 4 and 5 would each fit on one host.
        self.assertEqual((0.6, 0.5), (row["accept_rate"], row["accept_rate_one_host"]))

    def test_without_a_queue_nor_a_network(self):
        found = simulate(
            workload(2, (0, 2, 5), (1, 1, 5), (5, 1, 5)), Scenario("fcfs", queueing=False)
        )
        self.assertEqual([1, 3], list(found.jobs["job"]))

    @settings(max_examples=25)
    @given(st.sampled_from(ONE_TIER), rows)
    def test_without_bandwidth_slots_decide(self, policy, drawn):
        """Where nobody asks for any, the network is none; suspensions cost nothing here."""
        jobs = workload(48, *drawn)
        plain = Scenario(policy, migration_cost=0.0)
        linked = Scenario(policy, slots=3, topology="fat-tree:4", migration_cost=0.0)
        columns = ["job", "start", "finish"]
        self.assertEqual(
            simulate(jobs, plain).jobs[columns].to_numpy().tolist(),
            simulate(jobs, linked).jobs[columns].to_numpy().tolist(),
        )

    @settings(max_examples=25)
    @given(st.sampled_from([*EMBEDDING, *AS_PRINTED]), rows, st.booleans())
    def test_every_job_ends_or_is_rejected(self, policy, drawn, queueing):
        scenario = Scenario(
            policy,
            slots=3,
            topology="fat-tree:4:1000:1:1",
            bandwidth="by-size:400",
            queueing=queueing or variants.get(policy).tiers > 1,
        )
        with mock.patch.object(Linked, "_vacate", _checked(self)):
            found = simulate(workload(48, *drawn), scenario)
        numbers = [*found.jobs["job"], *found.rejected["job"]]
        self.assertEqual(list(range(1, len(drawn) + 1)), sorted(numbers))
        worked = found.jobs["finish"] - found.jobs["start"] - found.jobs["runtime"]
        self.assertTrue((worked > -1e-6).all())


def _checked(case, vacate=Linked._vacate):
    """Before a job leaves, the account is that of the jobs that are there."""

    def checked(cluster, run):
        cluster.runs[run.job.number] = run
        check_account(case, cluster)
        del cluster.runs[run.job.number]
        vacate(cluster, run)

    return checked


class TestArrivals(testtools.TestCase):
    def test_largest_bandwidth_is_known_when_it_has_arrived(self):
        """Also that of a job that is rejected; not before."""
        cluster = star()
        seen = []
        with mock.patch.object(cluster, "saw", side_effect=lambda job: seen.append(job.number)):
            each = [mock.Mock(job=job(n, size)) for n, size in ((1, 1), (2, 9), (3, 1))]
            rejected = []
            stream = network.admitted(each, cluster, rejected)
            self.assertEqual((1, []), (next(stream).job.number, seen))
            self.assertEqual((3, [1]), (next(stream).job.number, seen))
            self.assertEqual([], list(stream))
        self.assertEqual([1, 2, 3], seen)
        self.assertEqual([(2, 9)], [each[:2] for each in rejected])


class TestRivals(testtools.TestCase):
    @settings(max_examples=30)
    @given(
        st.sampled_from(sorted(rivals.RIVALS)),
        st.lists(st.tuples(st.integers(1, 30), st.integers(0, 900)), max_size=15),
    )
    def test_links_and_hosts_hold(self, name, requests):
        cluster = Linked.of(TREE, 3, rivals.get(name))
        for number, (size, mbps) in enumerate(requests):
            each = job(number, size, mbps=float(mbps))
            if cluster.fits(each, FG):
                cluster.start(each, FG)
            check(self, cluster)

    def test_where(self):
        topology = Topology.from_paths(
            {"a": "core/x", "b": "core/x", "c": "core/y"}, dict.fromkeys("abc", 1000)
        )
        state = State(topology, 3, free={"a": 2, "b": 3, "c": 1})
        request = Request(4, 100)
        self.assertEqual({"a": 2, "b": 1, "c": 1}, dict(rivals.best_fit(request, state).vms))
        self.assertEqual({"a": 2, "b": 1, "c": 1}, dict(rivals.greedy(request, state).vms))
        two = Request(2, 100)
        self.assertEqual({"a": 2}, dict(rivals.greedy(two, state).vms), "they talk on the host")
        self.assertNotIsInstance(rivals.greedy(Request(7, 1), state), Embedding)
        self.assertIs(embedding.get("adaba"), rivals.get("adaba"))


class TestAsPrinted(testtools.TestCase):
    def test_suspends_who_was_backfilled_though_it_came_earlier(self):
        """3 passed 2 once. 4 came later than 3, and 3 has to leave for it all the same."""
        evicted = {}
        for name in ("bgmbf", "bgmbf-as-printed"):
            policy, cluster = variants.get(name), star()
            snapshot = Snapshot(cluster)
            for arriving, leaving in (
                ((1, 4), 0),
                ((2, 4), 0),
                ((3, 1), 0),
                (None, 1),
                ((4, 2), 0),
            ):
                if arriving:
                    snapshot.queue.add(job(*arriving))
                else:
                    cluster.remove(job(leaving, 4))
                actions = policy.schedule(snapshot, Event.ARRIVAL | Event.FOREGROUND, 0.0)
            evicted[name] = [each.job.number for each in actions if isinstance(each, Evict)]
            self.assertEqual(
                [4] * len(evicted[name]),
                [each.job.number for each in actions if isinstance(each, Start)],
            )
        self.assertEqual({"bgmbf": [], "bgmbf-as-printed": [3]}, evicted)

    def test_each_run_has_its_own(self):
        self.assertIsNot(variants.get("bgmbf-as-printed"), variants.get("bgmbf-as-printed"))
        self.assertRaises(policies.UnknownPolicy, variants.get, "x")


class TestBandwidth(testtools.TestCase):
    def draw(self, text, sizes, seed=0):
        return list(Bandwidth.parse(text).draw(sizes, 8, 1000, numpy.random.default_rng(seed)))

    def test_by_size(self):
        """MaxB of a job is what a VM gets of the links of ceil(N / 8) servers."""
        for size, highest in ((1, 1000), (4, 250), (8, 125), (9, 2000 / 9), (128, 125)):
            drawn = self.draw("by-size", [size] * 4000)
            self.assertLessEqual(max(drawn), highest)
            self.assertGreaterEqual(min(drawn), int(highest / 10))
            self.assertAlmostEqual(0.55, sum(drawn) / 4000 / highest, delta=0.01)
            self.assertTrue(all(each == int(each) for each in drawn))

    def test_means(self):
        for text in ("normal:300", "by-size:300"):
            drawn = self.draw(text, [1, 2, 4, 64] * 1000)
            self.assertAlmostEqual(300, sum(drawn) / 4000, delta=4)
        per_size = self.draw("by-size:300", [1, 8] * 2000)
        self.assertAlmostEqual(8, sum(per_size[::2]) / sum(per_size[1::2]), delta=0.2)

    def test_depends_on_the_seed_only(self):
        self.assertEqual(self.draw("by-size", [3, 5]), self.draw("by-size", [3, 5]))
        self.assertNotEqual(self.draw("by-size", [3, 5]), self.draw("by-size", [3, 5], seed=1))
        self.assertEqual(self.draw("by-size", [3, 5]), self.draw("by-size", [3, 5, 9])[:2])
        self.assertEqual([], self.draw("by-size:9", []))

    def test_mistakes(self):
        for text in (
            "",
            "x",
            "normal",
            "normal:",
            "normal:x",
            "normal:0",
            "by-size:-1",
            "normal:nan",
            "by-size:1e308",
        ):
            self.assertRaises(InvalidBandwidth, Bandwidth.parse, text)


class TestMemoryless(testtools.TestCase):
    def test_averages(self):
        jobs = Memoryless(8).generate(4000, seed=1, nodes=432).jobs
        self.assertAlmostEqual(8, sum(each.size for each in jobs) / 4000, delta=0.4)
        self.assertAlmostEqual(1 / 8, sum(each.size == 1 for each in jobs) / 4000, delta=0.02)
        self.assertAlmostEqual(3600, sum(each.runtime for each in jobs) / 4000, delta=200)
        self.assertAlmostEqual(1, Memoryless(8).generate(4000, 1, 432).load, delta=0.15)

    def test_sizes(self):
        self.assertEqual({1}, {each.size for each in Memoryless(1).generate(50, 0).jobs})
        self.assertEqual(3, max(each.size for each in Memoryless(8).generate(50, 0, nodes=3).jobs))
        self.assertRaises(ValueError, Memoryless, 0.5)
