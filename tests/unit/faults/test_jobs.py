"""The jobs fit the cluster, and keep it busy for the time that was asked for."""

import pathlib
import random

import fixtures
import testtools

from nova_twotier.sim.workloads import swf
from nova_twotier.tools.faults import jobs
from nova_twotier.tools.replay.workload import fit


class TestJobs(testtools.TestCase):
    def written(self, seed=1, **options):
        file = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "jobs.swf")
        given = {"jobs": 60, "slots": 48, "span": 240.0, **options}
        jobs.write(file, random.Random(seed), **given)
        return swf.read(file)

    def test_as_many_as_asked_within_the_span(self):
        trace = self.written()
        self.assertEqual((60, 48), (len(trace.records), trace.processors))
        self.assertTrue(max(record.submit for record in trace.records) <= 240 * jobs.SPEEDUP)
        self.assertTrue(all(record.estimate >= record.run > 0 for record in trace.records))

    def test_the_replay_keeps_their_sizes(self):
        trace = self.written(slots=16, jobs=12)
        played = fit(trace.records, trace.processors, 16)
        self.assertEqual([record.procs for record in trace.records], [job.size for job in played])
        self.assertTrue(max(job.size for job in played) <= 8)

    def test_load(self):
        trace = self.written()
        work = sum(record.procs * record.run for record in trace.records) / jobs.SPEEDUP
        self.assertTrue(0.8 < work / (48 * 240) < 1.4, work)

    def test_the_same_for_the_same_seed(self):
        self.assertEqual(self.written(), self.written())
        self.assertNotEqual(self.written(), self.written(seed=2))
