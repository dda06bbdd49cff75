"""Jobs of processes."""

import itertools
import os
import signal
import time
import unittest

import testtools

from nova_twotier.calibration.loads import Load, LoadFailed
from nova_twotier.calibration.processes import ProcessJob
from tests.unit.calibration.steps import await_steps

CPUS = sorted(os.sched_getaffinity(0))
#: A step that is short, but leaves the CPU to others.
LIGHT = Load(scans=5, pause=0.002)


class TestJob(testtools.TestCase):
    def test_it_counts_its_steps_its_time_and_its_cpu_time(self):
        with ProcessJob(CPUS[:1], LIGHT) as job:
            self.assertEqual(0, job.sample().steps)
            job.resume()
            first = await_steps(job, 3)
            last = await_steps(job, first.steps + 7)
        steps = last.steps - first.steps
        self.assertGreater(last.at - first.at, steps * LIGHT.pause - 1e-9)
        self.assertGreater(last.cpu, first.cpu)
        self.assertLess(last.cpu - first.cpu, last.at - first.at)

    def test_it_does_nothing_while_it_is_paused(self):
        with ProcessJob(CPUS[:1], LIGHT) as job:
            job.resume()
            await_steps(job, 1)
            job.pause()
            # A stop takes effect as soon as the process would run on.
            for sample, later in itertools.pairwise(iter(job.sample, None)):
                if sample == later:
                    break
            time.sleep(0.05)
            self.assertEqual(job.sample(), job.sample())

    @unittest.skipIf(len(CPUS) < 2, "one CPU has no parallel jobs")
    def test_its_processes_wait_for_each_other(self):
        with ProcessJob(CPUS[:2], LIGHT) as job:
            job.resume()
            await_steps(job, 20)
            # The first one is read before and after: they go on meanwhile.
            before, other, after = (job._row(rank)[0] for rank in (0, 1, 0))
        self.assertTrue(before - 2 <= other <= after + 2, (before, other, after))

    def test_each_has_its_cpu(self):
        with ProcessJob(CPUS[:2], LIGHT) as job:
            job.resume()
            await_steps(job, 1)
            for cpu, pid in job.pids.items():
                self.assertEqual({cpu}, os.sched_getaffinity(pid))

    def test_one_that_ends_by_itself_is_noticed(self):
        with ProcessJob(CPUS[:1], LIGHT) as job:
            os.kill(job.pids[CPUS[0]], signal.SIGKILL)
            with testtools.ExpectedException(LoadFailed, f".*CPU {CPUS[0]} has ended.*"):
                await_steps(job, 10**9)

    def test_none_is_left(self):
        with ProcessJob(CPUS[:2], LIGHT) as job:
            pids = list(job.pids.values())
            job.resume()
        for pid in pids:
            self.assertRaises(ProcessLookupError, os.kill, pid, 0)
