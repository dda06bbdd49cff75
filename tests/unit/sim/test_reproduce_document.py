"""`reproduce --doc` writes the claims into a document, and only those."""

import json
import math
from dataclasses import replace
from unittest import mock

import pandas
import testtools

from nova_twotier.sim.reproduce import document, registry
from nova_twotier.sim.reproduce.claims import OURS, UNTESTED, Claim, Finding
from nova_twotier.sim.reproduce.experiment import Experiment, Settings
from nova_twotier.sim.reproduce.numbers import Number
from nova_twotier.sim.reproduce.reasons import REASONS
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.reproduce.runner import Outcome
from tests.unit.sim.test_reproduce import ReproduceCase

PLACE = f"# Before\n\n{document.BEGIN}{document.END}\nAfter\n"


def outcome(name="jss2015-fig4", findings=(), numbers=(), **fields):
    """Of an experiment whose claims are c0, c1..."""
    claims = tuple(
        Claim(f"c{index}", "section 1", 9.0, "", lambda _results: UNTESTED, unit="%")
        for index in range(len(findings))
    )
    experiment = Experiment(name, "Paper, Figure 1", "this and that", claims=claims, **fields)
    pairs = list(zip(claims, findings, strict=True))
    return Outcome(
        experiment, Settings(), Results(pandas.DataFrame()), list(numbers), pairs, 0, 0.0
    )


class TestSection(testtools.TestCase):
    def test_claims(self):
        found = outcome(findings=[Finding(8.5, True), Finding("never", False), UNTESTED])
        with mock.patch.dict(REASONS, {"jss2015-fig4": {"c1": "it | rains"}}):
            text = document.section(found, "twotier-sim it")
        self.assertEqual(
            "## jss2015-fig4\n\n"
            "Paper, Figure 1, this and that: `twotier-sim it`; 1 of 3 claims hold.\n\n"
            "| claim | paper | ours | holds |\n|---|---|---|---|\n"
            "| c0 | 9 % | 8.5 % | yes |\n"
            "| c1 | 9 % | never | **no**: it / rains |\n"
            "| c2 | 9 % | - | not tested |",
            text,
        )

    def test_claims_of_ours_do_not_count(self):
        found = outcome(findings=[Finding(8.5, False), Finding(9.5, True)])
        (theirs, ours), (one, other) = zip(*found.findings, strict=True)
        beside = replace(ours, paper=OURS)
        text = document.section(replace(found, findings=[(theirs, one), (beside, other)]), "it")
        self.assertIn("0 of 1 claims hold.", text)
        self.assertIn(f"| c1 | {OURS} | 9.5 % | yes |", text)

    def test_heads_name_what_ours_is_compared_with(self):
        numbers = [Number.of("share", "KTH", "1", 10.0, [11.0])]
        found = outcome(findings=[Finding(8.5, True)], numbers=numbers, against="aim")
        text = document.section(found, "it")
        self.assertIn("| claim | aim | measured | holds |", text)
        self.assertIn("| furthest off | aim | measured | deviation |", text)

    def test_what_no_number_is_printed_for_has_no_table(self):
        found = outcome(numbers=[Number.of("share", "KTH", "1", math.nan, [11.0])])
        self.assertNotIn("furthest off", document.section(found, "it"))

    def test_no_reason_is_known(self):
        text = document.section(outcome(findings=[Finding(1.0, False)]), "it")
        self.assertIn("| **no**: reason not found |", text)

    def test_the_number_of_a_row_that_is_furthest_off(self):
        values = (("1", 10.0, 11.0), ("2", 0.0, 5.0), ("3", 50.0, 44.0))
        numbers = [Number.of("share", "KTH", *head, [ours]) for *head, ours in values]
        for points, expected in (
            (True, "| KTH 3: share | 50 | 44 | -6.0 points |"),
            (False, "| KTH 3: share | 50 | 44 | -12.0 % |"),
        ):
            text = document.section(outcome(numbers=numbers, points=points), "it")
            self.assertEqual(expected, text.splitlines()[-1])


class TestDocument(ReproduceCase):
    SMALL = ("--model-jobs", "80", "--seeds", "1", "--loads", "0.6")

    def setUp(self):
        super().setUp()
        self.doc = self.directory / "doc.md"
        self.doc.write_text(PLACE)

    def test_sections_are_replaced_and_in_order(self):
        for name, holds in (
            ("tpds2013-fig4", True),
            ("jss2015-fig4", True),
            ("jss2015-fig4", False),
        ):
            document.write(self.doc, outcome(name, [Finding(1.0, holds)]), "it")
        text = self.doc.read_text()
        self.assertTrue(text.startswith("# Before\n\n<!-- claims -->\n\n## jss2015-fig4\n"))
        self.assertTrue(text.endswith("| yes |\n\n<!-- end of claims -->\n\nAfter\n"))
        self.assertEqual(2, text.count("## "))
        self.assertEqual(1, text.count("| yes |"))

    def test_a_document_without_a_place_is_refused_before_anything_runs(self):
        self.doc.write_text("# Before\n")
        words = f"{self.doc} has no place for claims; add the lines <!-- claims --> and"
        self.refused(words, "tpds2013-fig4", *self.SMALL, "--doc", self.doc, "--out", self.out)
        self.assertFalse(self.out.exists())

    def test_every_experiment(self):
        chosen = {name: registry.get(name) for name in ("jss2015-fig4", "jss2015-fig6")}
        arguments = ("all", *self.SMALL, "--doc", self.doc, "--out", self.out, "--jobs", "1")
        with mock.patch.dict(registry.EXPERIMENTS, chosen, clear=True):
            code, out, err = self.main(*arguments, "-f", "json")
        self.assertEqual(0, code, err)
        rows = json.loads(out)
        self.assertEqual(list(chosen), [row.pop("experiment") for row in rows])
        claims = [len(each.claims) for each in chosen.values()]
        self.assertEqual(claims, [sum(row.values()) for row in rows])
        text = self.doc.read_text()
        self.assertEqual(sum(claims), sum(line.startswith("| ") for line in text.splitlines()) - 2)
        options = "--seeds 1 --model-jobs 80 --loads 0.6"
        self.assertIn(f"`twotier-sim reproduce jss2015-fig6 {options}`; ", text)
        # Figure 6 has the runs of Figure 4 in it: they are there already.
        self.assertEqual(4 + 3, len(list((self.out / "runs").glob("*.json"))))
        self.assertTrue((self.out / "jss2015-fig4.html").exists())


class TestReasons(testtools.TestCase):
    def test_they_are_of_claims(self):
        for name, reasons in REASONS.items():
            claims = {claim.text for claim in registry.get(name).claims}
            self.assertLessEqual(set(reasons), claims, name)
