"""CPU times from /proc."""

import os

import testtools

from nova_twotier.calibration import host

STAT = """\
cpu  300 0 0 0 0 0 0 0 0 0
cpu0 100 20 30 4000 50 6 7 8 0 0
cpu1 200 0 0 0 0 0 0 90 0 0
cpu10 1 1 1 1 1 1 1 1 0 0
intr 5
"""


class TestHost(testtools.TestCase):
    def test_times_of_some_cpus(self):
        tick = os.sysconf("SC_CLK_TCK")
        self.assertEqual(host.CpuTimes(163 / tick, 8 / tick), host.cpu_times([0], STAT))
        self.assertEqual(host.CpuTimes(363 / tick, 98 / tick), host.cpu_times([0, 1], STAT))

    def test_times_of_this_host_and_of_a_process(self):
        cpus = os.sched_getaffinity(0)
        first, own = host.cpu_times(cpus), host.process_times([os.getpid()])
        sum(range(3_000_000))
        self.assertGreaterEqual(host.cpu_times(cpus).busy, first.busy)
        self.assertGreater(host.process_times([os.getpid()]).ran, own.ran)

    def test_description(self):
        self.assertEqual(os.uname().release, host.describe()["kernel"])
