"""benchmarks/prediction.py measures a queue of the size that it names."""

import io
from contextlib import redirect_stdout
from unittest import mock

import testtools

from benchmarks import prediction


class TestBenchmark(testtools.TestCase):
    def test_every_policy_and_size_has_a_row(self):
        with (
            mock.patch.multiple(prediction, HOSTS=(32,), WAITING=(5, 9), PAST=30),
            mock.patch("sys.argv", ["prediction.py", "--rounds", "1", "--estimator", "hanzich"]),
            redirect_stdout(io.StringIO()) as out,
        ):
            prediction.main()
        title, _head, *rows = out.getvalue().splitlines()
        self.assertIn("hanzich", title)
        cells = [row.split() for row in rows]
        self.assertEqual(
            [[policy, "32", waiting] for policy in ("easy", "amcbf") for waiting in ("5", "9")],
            [[row[0], row[1], row[3]] for row in cells],
        )
        for row in cells:
            self.assertGreater(int(row[2]), 0)
