"""How jobs of a trace are fitted to the cluster."""

from dataclasses import replace

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.qos import NORMAL, SCAVENGER
from nova_twotier.sim.workloads import swf
from nova_twotier.tools.replay.run import EXCERPT
from nova_twotier.tools.replay.workload import (
    CPU_RANGE,
    draw_cpu,
    draw_mbps,
    fit,
    scaled_size,
)


class TestFit(testtools.TestCase):
    @given(st.integers(1, 1000), st.integers(1, 64))
    def test_a_job_keeps_its_share_of_the_machine_rounded_up(self, procs, slots):
        size = scaled_size(procs, 1000, slots)
        self.assertTrue(size - 1 < procs * slots / 1000 <= size)
        self.assertTrue(1 <= size <= slots)

    @given(st.integers(2, 40), st.integers(), st.integers(0, 10**6))
    def test_cpu_is_drawn_once_for_a_seed_and_a_job(self, size, seed, number):
        cpu = draw_cpu(size, seed, number)
        self.assertEqual(cpu, draw_cpu(size, seed, number))
        self.assertEqual(sorted(cpu, reverse=True), list(cpu))
        self.assertTrue(all(CPU_RANGE[0] <= value <= CPU_RANGE[1] for value in cpu))

    def test_a_single_process_uses_all_of_its_slot(self):
        self.assertEqual((1.0,), draw_cpu(1, 5, 5))

    @given(st.integers(1, 40), st.integers(), st.integers(0, 10**6), st.integers(100, 10**5))
    def test_every_job_has_its_bandwidth_on_an_empty_cluster(self, size, seed, number, link):
        mbps = draw_mbps(size, seed, number, link)
        self.assertEqual(mbps, draw_mbps(size, seed, number, link))
        self.assertTrue(mbps > 0 and size // 2 * mbps <= link)

    def test_bandwidth_is_asked_for_only_on_links(self):
        trace = swf.read(EXCERPT)
        plain = fit(trace.records, trace.processors, 32)
        linked = fit(trace.records, trace.processors, 32, link_mbps=1000)
        self.assertEqual({0}, {job.mbps for job in plain})
        self.assertEqual(plain, [replace(job, mbps=0) for job in linked])
        self.assertTrue(all(job.mbps for job in linked))

    def test_classes_of_service(self):
        trace = swf.read(EXCERPT)
        queues = [1, 2] * len(trace.records)
        records = [r._replace(queue=n) for r, n in zip(trace.records, queues, strict=False)]
        for classes, expected in ((None, {NORMAL}), ({1: SCAVENGER}, {SCAVENGER, NORMAL})):
            jobs = fit(records, trace.processors, 32, classes=classes)
            self.assertEqual(expected, {job.qos for job in jobs})
            self.assertEqual(NORMAL, jobs[1].qos)

    def test_the_excerpt_says_whose_it_is_and_fits(self):
        trace = swf.read(EXCERPT)
        self.assertEqual("Lars Malinowsky", trace.header("Acknowledge"))
        self.assertEqual(100, trace.processors)
        self.assertTrue(60 <= len(trace.records) <= 100)
        jobs = fit(trace.records, trace.processors, 32, prefix="kth", load_scale=2.0)
        span = trace.records[-1].submit - trace.records[0].submit
        self.assertEqual((0, span / 2), (jobs[0].submit, jobs[-1].submit))
        self.assertTrue(all(job.size <= 32 and job.estimate >= job.runtime for job in jobs))
        self.assertEqual(f"kth-{trace.records[0].number}", jobs[0].name)
