"""benchmarks/manager.py, without a cloud: every happening of every policy gets its line."""

import itertools
import pathlib
import subprocess
import sys

import testtools

SCRIPT = pathlib.Path(__file__).parents[3] / "benchmarks/manager.py"


class BenchmarkCase(testtools.TestCase):
    def table(self, *options):
        """The rows of the first table that it prints, by the names of the columns."""
        run = subprocess.run(
            [sys.executable, SCRIPT, *options], capture_output=True, text=True, timeout=300
        )
        self.assertEqual(0, run.returncode, run.stderr)
        lines = itertools.dropwhile(lambda line: line[:1] != "|", run.stdout.splitlines())
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in itertools.takewhile(lambda line: line[:1] == "|", lines)
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


class TestIdle(BenchmarkCase):
    def test_prints_its_tables(self):
        options = ["--idle-hosts=2", "--waiting=40", "--finished=5", "--idle-polls=2"]
        polls = self.table("idle", *options)
        self.assertEqual(["1", "2"], [row["number"] for row in polls[:2]])
        self.assertGreater(float(polls[0]["requests"]), float(polls[1]["requests"]))


class TestPredictions(BenchmarkCase):
    def test_prints_its_table(self):
        table = self.table("predictions", "--predicted=10", "--predicted-hosts=1")
        self.assertEqual(
            ["none", "in a process", "in a thread"], [row["predictions"] for row in table]
        )
        self.assertEqual("0", table[0]["made"])
        for row in table[1:]:
            self.assertGreater(float(row["takes"]), 0)
