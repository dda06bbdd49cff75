"""benchmarks/manager.py, without a cloud: every happening of every policy gets its line."""

import pathlib
import subprocess
import sys

import testtools

SCRIPT = pathlib.Path(__file__).parents[3] / "benchmarks/manager.py"


class TestPasses(testtools.TestCase):
    def test_prints_its_table(self):
        options = ["passes", "--waiting=30", "--slots=16", "--rounds=1", "--policies=fcfs,amcbf"]
        run = subprocess.run(
            [sys.executable, SCRIPT, *options], capture_output=True, text=True, timeout=300
        )
        self.assertEqual(0, run.returncode, run.stderr)
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in run.stdout.splitlines()
            if line.startswith("|")
        ]
        table = [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]
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
