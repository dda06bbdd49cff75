"""doc/reasons.md is what the list of reasons says."""

import pathlib

import testtools

from nova_twotier.core.reasons import CODES
from nova_twotier.tools import reasons

PAGE = pathlib.Path(__file__).parents[2] / "doc" / "reasons.md"


class TestPage(testtools.TestCase):
    def test_up_to_date(self):
        told = "run `python -m nova_twotier.tools.reasons > doc/reasons.md`"
        self.assertEqual(reasons.page(), PAGE.read_text(), told)

    def test_every_code_is_there(self):
        for name, code in CODES.items():
            self.assertIn(
                f"| `{name}` | {code.text} | {code.meaning} | {code.cure} |", PAGE.read_text()
            )
