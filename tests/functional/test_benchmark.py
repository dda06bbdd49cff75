"""benchmarks/scheduler.py: it prints its tables, and its prepared answers are Placement's."""

import json
import multiprocessing
import os
import pathlib
import subprocess
import sys

import testtools
from nova import objects

from benchmarks.scheduling import answers, ledger, variants
from nova_twotier.core.actions import Tier
from nova_twotier.ledger import claims, largest, names, reading, tree

SCRIPT = pathlib.Path(__file__).parents[2] / "benchmarks/scheduler.py"


def in_order(body):
    """Placement lists traits and candidates in no particular order."""
    summaries = {
        provider: {**summary, "traits": sorted(summary["traits"])}
        for provider, summary in body["provider_summaries"].items()
    }
    return summaries, sorted(body["allocation_requests"], key=str)


class TestPreparedAnswers(testtools.TestCase):
    """What the benchmark has prepared, against what Placement says of the same hosts."""

    def setUp(self):
        super().setUp()
        objects.register_all()
        placement = self.useFixture(ledger.PlacementService())
        self.placement = placement.ledger
        self.cloud = ledger.LedgerCloud(4, placement)
        self.reports = placement.reports
        self.prepared = answers.ReportClient(self.cloud.hosts)

    def read(self, url):
        return self.reports.get(url, version=names.MICROVERSION)

    def test_candidates_of_a_tier(self):
        for tier in Tier:
            url = reading.candidates_url(tier)
            real, prepared = self.read(url), self.prepared.get(url)
            self.assertEqual(in_order(real.json()), in_order(prepared.json()))
            # The size, and the order of the keys, which the plugin's scan depends on.
            self.assertEqual(len(real.content), len(prepared.content))
            views = [reading.scan_host_views(answer.text) for answer in (real, prepared)]
            self.assertEqual(views[0], views[1])
            self.assertEqual(4, len(views[0]))

    def test_entry_of_the_job(self):
        self.cloud.admit(3, Tier.BG)
        self.prepared.entry = answers.job_entry(3, Tier.BG)
        url = f"/allocations/{ledger.JOB}"
        real, prepared = (each.json() for each in (self.read(url), self.prepared.get(url)))
        self.assertEqual(real.keys(), prepared.keys())
        self.assertEqual(
            *(
                {provider: entry["resources"] for provider, entry in each["allocations"].items()}
                for each in (real, prepared)
            )
        )

    def test_network(self):
        shapes = {host.name: tree.Shape(host.slots, 2, "", (1000,)) for host in self.cloud.hosts}
        tree.sync_hosts(self.placement, shapes)
        claims.admit(self.placement, ledger.JOB, 2, Tier.FG, "p", "u", links={"host00000": 300})
        largest.publish(self.placement, names.DEFAULT_POOL, 600)
        left = {**dict.fromkeys(shapes, 1000), "host00000": 700}
        prepared = answers.network(left, 1000, 600)
        prepared["provider_summaries"][names.jobs_uuid()]["resources"][names.JOB_SIZE[Tier.FG]][
            "used"
        ] = 2
        self.assertEqual(in_order(self.read(reading.NETWORK_URL).json()), in_order(prepared))

    def test_candidates_for_nova(self):
        resources = f"{names.SLOT}:1,VCPU:1,MEMORY_MB:4096,DISK_GB:20"
        real = self.read(f"/allocation_candidates?resources={resources}").json()
        prepared = answers.nova_candidates(self.cloud.hosts, list(Tier))
        normal = [
            sorted(
                json.dumps({**each, "mappings": {"": sorted(each["mappings"][""])}}, sort_keys=True)
                for each in found
            )
            for found in (real["allocation_requests"], prepared)
        ]
        self.assertEqual(*normal)

    def test_read_that_is_not_prepared(self):
        error = self.assertRaises(ValueError, self.prepared.get, "/resource_providers")
        self.assertIn("/resource_providers", str(error))


class Failing(variants.Bench):
    """One of its variants fails in a request of two VMs."""

    def __init__(self):
        self.variants = {"a": None, "b": None}

    def run(self, name, size):
        if (name, size) == ("b", 2):
            sys.stderr.close()
            raise RuntimeError("no host")
        return variants.Timing(1.0, float(os.getpid()))


class TestRounds(testtools.TestCase):
    def test_each_variant_in_its_process(self):
        times = Failing().rounds(3, 2)
        pids = {name: {each.cpu for each in times[name]} for name in "ab"}
        self.assertEqual([1, 1], [len(pids[name]) for name in "ab"])
        self.assertEqual(3, len(pids["a"] | pids["b"] | {os.getpid()}))
        self.assertEqual([], multiprocessing.active_children())

    def test_variant_that_fails(self):
        self.assertRaises(EOFError, Failing().rounds, 2, 1)
        self.assertEqual([], multiprocessing.active_children())

    def test_ratio_of_each_round(self):
        """The machine is half as fast in the second round, and busy in the third."""
        base = [variants.Timing(0.0, cpu) for cpu in (1.0, 2.0, 1.0)]
        times = [variants.Timing(0.0, cpu) for cpu in (1.1, 2.2, 1.9)]
        self.assertAlmostEqual(0.1, variants.over(times, base))


class TestScript(testtools.TestCase):
    def test_prints_its_tables(self):
        options = ["--hosts=3,5", "--sizes=1,2", "--rounds=1", "--profile", "--ledger-hosts=2"]
        run = subprocess.run(
            [sys.executable, SCRIPT, *options], capture_output=True, text=True, timeout=300
        )
        self.assertEqual(0, run.returncode, run.stderr)
        rows = [line.split(" | ") for line in run.stdout.splitlines() if line.startswith("|")]
        self.assertEqual(
            [["| 3", "1"], ["| 3", "2"], ["| 5", "1"], ["| 5", "2"]], [row[:2] for row in rows[2:6]]
        )
        parts = {row[0].removeprefix("| ") for row in rows[6:]}
        self.assertLessEqual(
            {"Nova: CPUWeigher", "ours: TierFilter", "ours: ComplementWeigher", "the rest"}, parts
        )
        guaranteed = rows.index(next(row for row in rows if "the plan in e" in row))
        planned = rows[guaranteed + 2 : guaranteed + 6]
        self.assertEqual(["1", "2", "1", "2"], [row[1] for row in planned])
        self.assertTrue(all(float(row[4]) > 0 for row in planned), planned)
        # A VM that is alone, and no job's, needs no plan.
        several = [row for row in planned if row[1] == "2"]
        self.assertTrue(all(float(row[7]) > 0 for row in several), planned)
        self.assertEqual(["| 1", "| 2"], [row[0] for row in rows[-2:]])
