"""Classes of service in the simulator."""

import testtools

from nova_twotier.core import policies
from nova_twotier.core.qos import Qos
from nova_twotier.sim import metrics, trace_state
from nova_twotier.sim.classes import TRACE, Classes, InvalidClasses
from nova_twotier.sim.scenario import InvalidScenario, Scenario
from nova_twotier.sim.simulation import simulate
from nova_twotier.sim.workloads import catalogue, swf
from nova_twotier.sim.workloads.workload import Workload

BOTH = "urgent=0.1,scavenger=0.3"


def workload(count=300, nodes=32):
    return catalogue.load(f"lublin:{count}", nodes=nodes, seed=1).scaled(0.9)


class TestShares(testtools.TestCase):
    def test_parse(self):
        self.assertEqual(Classes(0.1, 0.3), Classes.parse(BOTH))
        self.assertEqual(Classes(scavenger=1.0), Classes.parse("scavenger=1"))
        for text in ("", "normal=0.5", "urgent", "urgent=x", "urgent=0.1,urgent=0.1"):
            self.assertRaises(InvalidClasses, Classes.parse, text)
        for text in ("urgent=-0.1", "urgent=0.6,scavenger=0.6", "scavenger=nan"):
            error = self.assertRaises(InvalidClasses, Classes.parse, text)
            self.assertIn("give 0 to 1", str(error))

    def test_as_many_as_asked_for(self):
        jobs = simulate(workload(2000, 512), Scenario("amcbf", qos=BOTH)).jobs
        shares = jobs["qos"].value_counts(normalize=True)
        for qos, share in (("urgent", 0.1), ("normal", 0.6), ("scavenger", 0.3)):
            self.assertAlmostEqual(share, shares[qos], delta=0.04)


class TestRuns(testtools.TestCase):
    def test_every_policy_ends_every_job(self):
        jobs = workload()
        for name, policy in policies.POLICIES.items():
            qos = BOTH if policy.tiers > 1 else "urgent=0.1"
            found = simulate(jobs, Scenario(name, qos=qos, slots=2))
            self.assertEqual(len(jobs.jobs), len(found.jobs), name)
            below = found.jobs[found.jobs["qos"] == "scavenger"]
            self.assertLessEqual({*below["tier"]}, {"bg"}, name)

    def test_urgent_jobs_wait_less_and_scavengers_more(self):
        jobs = workload(800)
        for name in ("cmcbf", "amcbf", "acfcfs", "amcbf-deadline"):
            row = metrics.summarise(simulate(jobs, Scenario(name, qos=BOTH)))
            self.assertEqual(metrics.columns(BOTH), list(row))
            urgent, normal, scavenger = (row[f"average_wait_of_{q}_seconds"] for q in Qos)
            self.assertLess(urgent, normal, name)
            self.assertLess(normal, scavenger, name)

    def test_without_a_share_nothing_is_decided_otherwise(self):
        for name in ("easy", "amcbf", "acfcfs"):
            plain, none = (
                simulate(workload(), Scenario(name, qos=qos)) for qos in (None, "urgent=0")
            )
            self.assertTrue(plain.jobs.equals(none.jobs), name)
            self.assertNotIn("average_wait_of_normal_seconds", metrics.summarise(plain))

    def test_with_fair_share(self):
        jobs = workload()
        owned = type(jobs)(
            jobs.name, jobs.nodes, tuple(j._replace(user=j.number % 5) for j in jobs.jobs)
        )
        found = simulate(owned, Scenario("amcbf", qos=BOTH, fair_share="user", half_life=1e5))
        self.assertEqual(len(jobs.jobs), len(found.jobs))

    def test_what_cannot_be_simulated(self):
        for options in ({"policy": "easy"}, {"policy": "amcbf", "tiers": 1}):
            error = self.assertRaises(InvalidScenario, Scenario, qos=BOTH, **options)
            self.assertIn("scavengers run in the background only", str(error))
        self.assertRaises(InvalidClasses, Scenario, "amcbf", qos="normal=1")
        Scenario("easy", qos="urgent=0.1")
        self.assertRaises(InvalidScenario, Scenario, "fcfs", qos="urgent=0.1", queueing=False)


class TestTrace(testtools.TestCase):
    """`trace`: the classes that a trace gives its jobs."""

    HEADER = (
        "; MaxProcs: 4",
        "; Queue: 7 urgent (day)",
        "; Queue: 8 scavenger",
        "; Queue: 9 large",
    )

    def read(self, *queues, header=HEADER):
        """A workload of jobs in these queues, one a second."""
        jobs = [
            f"{number} {number} 0 60 4 -1 -1 4 60 -1 1 1 1 -1 {queue} -1 -1 -1"
            for number, queue in enumerate(queues, 1)
        ]
        return Workload.from_swf(swf.parse([*header, *jobs], "trace"))

    def test_the_header_names_the_classes(self):
        found = simulate(self.read(9, 8, 7, -1, 1), Scenario("amcbf", qos=TRACE))
        self.assertEqual(
            ["normal", "scavenger", "urgent", "normal", "normal"], found.jobs["qos"].to_list()
        )
        self.assertEqual("bg", found.jobs["tier"][1])
        self.assertLess(found.jobs["start"][2], found.jobs["start"][3])

    def test_a_trace_that_is_written_keeps_them(self):
        workload = self.read(7, 8, 9, -1)
        again = Workload.from_swf(workload.to_swf(), name=workload.name)
        self.assertEqual([Qos.URGENT, Qos.SCAVENGER, None, None], [job.qos for job in again.jobs])
        self.assertEqual(workload, again)
        plain = self.read(9).to_swf()
        self.assertEqual(({}, [-1]), (plain.queues, [each.queue for each in plain.records]))

    def test_what_cannot_be_simulated(self):
        for jobs in (workload(10), self.read(7, 8, header=self.HEADER[:1])):
            error = self.assertRaises(InvalidScenario, simulate, jobs, Scenario("amcbf", qos=TRACE))
            self.assertIn("names no classes of service; its header needs lines", str(error))
        easy = Scenario("easy", qos=TRACE)
        error = self.assertRaises(InvalidScenario, simulate, self.read(7, 8), easy)
        self.assertIn("scavengers run in the background only", str(error))
        simulate(self.read(7, 9), easy)
        self.assertRaises(InvalidScenario, Scenario, "fcfs", qos=TRACE, queueing=False)

    def test_what_if(self):
        state = trace_state.state_at(self.read(7, 8, 8), Scenario("amcbf", qos=TRACE), 3.0)
        self.assertEqual(
            [Qos.URGENT, Qos.SCAVENGER, Qos.SCAVENGER], [each.job.qos for each in state.jobs]
        )
