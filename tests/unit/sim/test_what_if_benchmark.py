"""benchmarks/what_if.py measures a queue of the size that it names."""

import io
from contextlib import redirect_stdout
from unittest import mock

import testtools

from benchmarks import what_if


class TestBenchmark(testtools.TestCase):
    def test_a_row_for_each_policy(self):
        with (
            mock.patch.object(what_if, "PAST", 30),
            mock.patch("sys.argv", ["what_if.py", "--hosts", "32", "--waiting", "9"]),
            redirect_stdout(io.StringIO()) as out,
        ):
            what_if.main()
        _head, *rows = (line.split() for line in out.getvalue().splitlines())
        self.assertEqual(
            [["easy", "32", "9"], ["amcbf", "32", "9"]],
            [[policy, hosts, waiting] for policy, hosts, _running, waiting, *_ in rows],
        )
