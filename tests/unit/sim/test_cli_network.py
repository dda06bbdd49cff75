"""The options of networks with guaranteed bandwidth on the command line."""

import json
import pathlib
from unittest import mock

from tests.unit.sim.test_cli import CommandCase

#: Two hosts of two slots each.
PAIR = ("--topology", "fat-tree:2:100", "--slots", "2")


class TestNetwork(CommandCase):
    JOBS = ((1, 0, 100, 3, 120), (2, 10, 100, 2, 120), (3, 20, 50, 1, 60))

    def rate(self, *args):
        row = json.loads(self.works("run", self.source, "--policy", "fcfs", "-f", "json", *args))
        return row["nodes"], row["average_wait_seconds"], row["accept_rate"]

    def test_topology_is_the_machine(self):
        self.assertEqual((4, (0 + 90 + 80) / 3, 1.0), self.rate(*PAIR))

    def test_without_queue(self):
        args = ("run", self.source, *PAIR, "--policy", "fcfs", "--no-queue", "-f", "json")
        code, out, err = self.main(*args)
        self.assertEqual("twotier-sim: 1 job rejected: needs 2 foreground slots, 1 idle\n", err)
        self.assertEqual((0, 2 / 3), (code, json.loads(out)["accept_rate"]))

    def test_compare(self):
        args = (*PAIR, "--policy", "fcfs,bgmbf", "--jobs", "1", "-f", "value")
        columns = ("-c", "policy", "-c", "average_wait_seconds")
        out = self.works("compare", self.source, *args, *columns)
        # With BgMBF, 3 passes 2.
        self.assertEqual("fcfs 56.666666666666664\nbgmbf 30.0\n", out)
        code, out, err = self.main("compare", self.source, *args, "--no-queue", *columns)
        self.assertEqual(
            (0, "twotier-sim: up to 1 job a run rejected, which --long counts\n"), (code, err)
        )

    def test_every_option(self):
        args = ("--embedding", "oktopus", "--bandwidth", "normal:40", "--seed", "2")
        self.assertEqual(4, self.rate(*PAIR, *args)[0])

    def test_sweep(self):
        out = self.path("out")
        args = ("sweep", self.source, *PAIR, "--policy", "fcfs", "--load", "0.5", "--no-queue")
        code, _out, err = self.main(*args, "--out", out, "--jobs", "1")
        self.assertEqual((0, ""), (code, err))

    def test_mistakes(self):
        for words, args in (
            (
                "easy cannot decide on a topology; choose one of: fcfs, ",
                ("--topology", "fat-tree:2"),
            ),
            ("--topology: k is 3; ", ("--topology", "fat-tree:3")),
            ("fat-tree:1000 has 250,000,000 hosts; give", ("--topology", "fat-tree:1000")),
            ("--topology: topology is 'x'; give fat-tree:K, ", ("--topology", "x")),
            ("--embedding: there is no embedding 'x'; ", ("--embedding", "x")),
            ("--bandwidth: bandwidth is 'x'; give by-size", ("--bandwidth", "x")),
            ("easy cannot decide without a queue", ("--no-queue",)),
        ):
            self.refused(words, "run", self.source, "--policy", "easy", *args)

    def test_bandwidth_that_nothing_goes_by(self):
        words = "--bandwidth says nothing without --topology, but under sbf"
        args = (self.source, "--nodes", "3", "--bandwidth", "normal:40")
        self.refused(words, "run", *args, "--policy", "fcfs")
        self.refused(words, "compare", *args, "--policy", "fcfs,easy")
        self.works("run", *args, "--policy", "sbf")
        self.works("compare", *args, "--policy", "fcfs,sbf", "--jobs", "1")

    def test_nodes_that_the_topology_does_not_have(self):
        words = "with --slots 2 has 4 slots; the workload is for 9: give --nodes 4, or leave"
        args = (self.source, "--policy", "fcfs", *PAIR, "--nodes", "9")
        out = self.path("out")
        self.refused(words, "run", *args)
        with mock.patch("nova_twotier.sim.simulation.simulate", side_effect=KeyError("begun")):
            self.refused(words, "compare", *args, "--jobs", "1")
            self.refused(words, "sweep", *args, "--jobs", "1", "--out", out)
        self.assertFalse(pathlib.Path(out).exists())
