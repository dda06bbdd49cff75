"""Tables in and out of files."""

import pathlib

import fixtures
import pandas
import testtools
from pandas.testing import assert_frame_equal

from nova_twotier.sim import tables, whole_file
from tests.unit.sim.result_builders import runs, schedule


class TableCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)


class TestFiles(TableCase):
    def test_what_is_written_is_read(self):
        for frame in (schedule(), runs()):
            for name in ("t.csv", "t.parquet"):
                tables.write(frame, self.directory / name)
                assert_frame_equal(frame, tables.read(self.directory / name), check_dtype=False)

    def test_nothing_else_is_left_behind(self):
        tables.write(runs(), self.directory / "t.csv")
        self.assertEqual(["t.csv"], [path.name for path in self.directory.iterdir()])

    def test_a_write_that_fails_leaves_the_old_table(self):
        path = self.directory / "t.parquet"
        tables.write(runs(), path)
        before = path.read_bytes()
        mixed = pandas.DataFrame({"a": [1, "x", object()]})
        self.assertRaises(Exception, tables.write, mixed, path)  # noqa: B017 of pyarrow
        self.assertEqual(before, path.read_bytes())
        self.assertEqual([path], list(self.directory.iterdir()))

    def assert_refused(self, words, function, *args):
        self.assertIn(words, str(self.assertRaises(tables.TableError, function, *args)))

    def test_other_suffix(self):
        words = "t.xlsx: a table is a file that ends in .csv or .parquet"
        self.assert_refused(words, tables.write, runs(), self.directory / "t.xlsx")
        self.assert_refused(words, tables.read, self.directory / "t.xlsx")

    def test_no_such_directory(self):
        path = self.directory / "no" / "t.csv"
        error = self.assertRaises(whole_file.NoPlace, tables.write, runs(), path)
        self.assertIn(f"{path}: there is no directory", str(error))

    def test_what_is_no_table(self):
        for name in ("t.csv", "t.parquet"):
            (self.directory / name).write_bytes(b"")
            self.assert_refused(f"{name}: is not a", tables.read, self.directory / name)

    def test_one_that_is_not_there(self):
        """The error says so, and not only what it is called."""
        for name in ("none.csv", "none.parquet"):
            error = self.assertRaises(FileNotFoundError, tables.read, self.directory / name)
            self.assertEqual("No such file or directory", error.strerror)


class TestSelect(TableCase):
    FRAME = pandas.DataFrame(
        {"policy": ["easy", "easy", "fcfs"], "slots": [1, 2, 2], "tiers": [None, 2.0, 3.0]}
    )

    def chosen(self, *conditions):
        return list(tables.select(self.FRAME, conditions).index)

    def test_words_numbers_and_none(self):
        self.assertEqual([0, 1, 2], self.chosen())
        self.assertEqual([1], self.chosen(("policy", "easy"), ("slots", "2")))
        self.assertEqual([2], self.chosen(("tiers", "3")))
        self.assertEqual([0], self.chosen(("tiers", "none")))

    def test_refused(self):
        for condition, words in (
            (("nodes", "2"), "the table has no column 'nodes'"),
            (("slots", "two"), "the table has no row with slots=two"),
        ):
            error = self.assertRaises(tables.TableError, self.chosen, condition)
            self.assertEqual(words, str(error))
