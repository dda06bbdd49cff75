"""Indexes of arrays as Slurm writes them."""

import testtools
from hypothesis import given
from hypothesis import strategies as st

from nova_twotier.core.indexes import MOST_INDEX, MOST_TASKS, InvalidIndexes, parse, written

SOME = st.sets(st.integers(0, MOST_INDEX), min_size=1, max_size=60)
CLOSE = st.sets(st.integers(0, 40), min_size=1)


class TestIndexes(testtools.TestCase):
    def test_forms(self):
        for text, found in (
            ("0", [0]),
            ("0-3", [0, 1, 2, 3]),
            ("5,1,3", [1, 3, 5]),
            ("0-9:4", [0, 4, 8]),
            ("7-7", [7]),
            ("0-2, 10-14:2 ,999999", [0, 1, 2, 10, 12, 14, 999999]),
            ("0-9999", list(range(MOST_TASKS))),
        ):
            self.assertEqual(found, parse(text), text)

    def test_mistakes(self):
        forms = "give indexes such as 0-99, 1,3,5 or 0-98:2"
        for text, said in (
            ("5-1", f"'5-1' ends before it begins: {forms}"),
            ("a-b", f"'a-b' is not an index or a range: {forms}"),
            ("-3", f"'-3' is not an index or a range: {forms}"),
            ("", f"'' is not an index or a range: {forms}"),
            ("1,,2", f"'' is not an index or a range: {forms}"),
            ("1:2", f"'1:2' is not an index or a range: {forms}"),
            ("0-8%2", f"'0-8%2' is not an index or a range: {forms}"),
            ("9" * 5000, f"{'9' * 60!r} is not an index or a range: {forms}"),
            ("0-9:0", "'0-9:0': give a step of at least 1"),
            ("1-3,2", "'1-3,2' has the index 2 twice"),
            ("1000000", "'1000000': give indexes of at most 999,999"),
            ("0-10000", "'0-10000' has more than 10,000 indexes"),
            ("0-6000,10000-16000", "'0-6000,10000-16000' has more than 10,000 indexes"),
        ):
            error = self.assertRaises(InvalidIndexes, parse, text)
            self.assertEqual(said, str(error))

    def test_written(self):
        for text in ("0-99", "1,3", "0-98:2", "4", "0-1", "1-7:3,8-9", "1,4,10"):
            self.assertEqual(text, written(parse(text)))
        self.assertEqual("", written([]))

    @given(st.one_of(SOME, CLOSE))
    def test_what_is_written_is_read(self, indexes):
        self.assertEqual(sorted(indexes), parse(written(indexes)))

    @given(st.text("0123456789-,:%x ", max_size=12))
    def test_any_text_is_indexes_or_a_mistake(self, text):
        try:
            found = parse(text)
        except InvalidIndexes:
            return
        self.assertEqual(sorted(set(found)), found)
        self.assertTrue(0 < len(found) <= MOST_TASKS)
        self.assertTrue(found[-1] <= MOST_INDEX)
