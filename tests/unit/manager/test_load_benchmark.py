"""benchmarks/manager.py, without a cloud: every happening of every policy gets its line."""

import pathlib
import subprocess
import sys

import testtools

SCRIPT = pathlib.Path(__file__).parents[3] / "benchmarks/manager.py"


class BenchmarkCase(testtools.TestCase):
    def table(self, *options):
        """The rows that it prints, by the names of the columns."""
        run = subprocess.run(
            [sys.executable, SCRIPT, *options], capture_output=True, text=True, timeout=300
        )
        self.assertEqual(0, run.returncode, run.stderr)
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in run.stdout.splitlines()
            if line.startswith("|")
        ]
        return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


class TestPasses(BenchmarkCase):
    def test_prints_its_table(self):
        options = ["passes", "--waiting=30", "--slots=16", "--rounds=1", "--policies=fcfs,amcbf"]
        table = self.table(*options)
        happenings = [
            "a start of the manager, cloud empty",
            "a start of the manager, cloud full",
            "one arrival",
            "one end",
            "nothing",
        ]
        self.assertEqual(
            [(policy, each) for policy in ("fcfs", "amcbf") for each in happenings],
            [(row["policy"], row["after"]) for row in table],
        )
        idle = [row["play"] for row in table if row["after"] == "nothing"]
        self.assertEqual(["0.0", "0.0"], idle)


class TestPredictions(BenchmarkCase):
    def test_prints_its_table(self):
        table = self.table("predictions", "--predicted=10", "--predicted-hosts=1")
        self.assertEqual(
            ["none", "in a process", "in a thread"], [row["predictions"] for row in table]
        )
        self.assertEqual("0", table[0]["made"])
        for row in table[1:]:
            self.assertGreater(float(row["takes"]), 0)
