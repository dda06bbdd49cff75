"""The claims in doc/claims.md are those of the code, in the form that `--doc` writes.

Nothing is run: what the page says of our runs is taken from it, and the rest has to be what the
code writes around that.
"""

import pathlib
import re
from dataclasses import replace

import pandas
import testtools

from nova_twotier.sim.reproduce import document, readings, registry
from nova_twotier.sim.reproduce.claims import UNTESTED, Finding
from nova_twotier.sim.reproduce.experiment import Settings
from nova_twotier.sim.reproduce.results import Results
from nova_twotier.sim.reproduce.runner import Outcome

PAGE = (pathlib.Path(__file__).parents[3] / "doc" / "claims.md").read_text(encoding="utf-8")
#: Papers whose tables and figures the page goes through.
PAPERS = ("jss2015-", "tpds2013-", "symmetry2018-")
#: doc/simulator/reproducing.md has a larger table of it, with five seeds.
ELSEWHERE = {"jss2015-table2"}
VERDICTS = {"yes": True, "**no**": False, "not tested": None}


def sections():
    """The text of each experiment's section, by name."""
    _before, _begin, rest = PAGE.partition(document.BEGIN)
    parts = rest.partition(document.END)[0].split("\n## ")[1:]
    return {part.split("\n", 1)[0]: f"## {part.strip()}" for part in parts}


def table(text, head):
    """The rows of the table whose head begins so, as lists of cells, the head first."""
    rows = re.search(rf"^{re.escape(head)}.*\n(?:\|.*\n?)*", text, re.MULTILINE)
    lines = rows[0].strip().splitlines() if rows else []
    return [line.strip("| ").split(" | ") for line in lines if not line.startswith("|--")]


def cut(text):
    """What is said of claims, without printed numbers and further tables."""
    for begin in ("\n\n| furthest off", "\n\n|  |"):
        text = text.partition(begin)[0]
    return text


def finding(ours, verdict):
    word, at = re.match(r"(yes|not tested|\*\*no\*\*)(?: \(at (.*?)\))?(?=:|$)", verdict).groups()
    against = tuple(at.split(", ")) if at else ()
    return Finding(None if ours == "-" else ours, VERDICTS[word], against)


def outcome(experiment, text):
    """As a run gave it whose section is `text`."""
    found = [
        finding(ours, verdict)
        for _claim, _paper, ours, verdict in table(text, "| claim | " + experiment.against)[1:]
    ]
    failing = [index for index, finding in enumerate(found) if finding.holds is False]
    (head, *rows) = table(text, "| claim | as above") or [[]]
    tried = {name: [UNTESTED] * len(found) for name in head[2:]}
    for index, (_claim, _before, *cells) in zip(failing, rows, strict=bool(rows)):
        for findings, cell in zip(tried.values(), cells, strict=True):
            holds = cell.endswith(document.HOLDS)
            findings[index] = Finding(cell.removesuffix(document.HOLDS), holds)
    bare = replace(experiment, tables=lambda _results, _settings: ())
    pairs = list(zip(experiment.claims, found, strict=True))
    return Outcome(bare, Settings(), Results(pandas.DataFrame()), [], pairs, 0, 0.0, tried)


class TestClaims(testtools.TestCase):
    def test_every_table_and_figure_is_there(self):
        names = [name for name in registry.EXPERIMENTS if name.startswith(PAPERS)]
        there = [name for name in sections() if name.startswith(PAPERS)]
        self.assertEqual([name for name in names if name not in ELSEWHERE - {*there}], there)

    def test_they_are_what_the_code_writes(self):
        for name, text in sections().items():
            experiment = registry.get(name)
            command = re.search(r"`(twotier-sim reproduce \S+.*?)`", text)[1]
            self.assertEqual(name, command.split()[2])
            if experiment.claims:
                expected = document.section(outcome(experiment, text), command)
                self.assertEqual(expected, cut(text), name)

    def test_something_was_tried_for_all_that_do_not_hold(self):
        for name, text in sections().items():
            trials = registry.get(name).trials if "**no**" in text else ()
            (head, *_rows) = table(text, "| claim | as above") or [[]]
            self.assertEqual([each.name for each in trials], head[2:], name)

    def test_readings(self):
        for name, trials in (
            ("jss2015-readings", readings.JSS),
            ("tpds2013-readings", readings.TPDS),
        ):
            rows = [line.strip("| ").split(" | ")[0] for line in sections()[name].splitlines()]
            for trial in trials:
                # The default of one is what the others are compared with.
                if (name, trial) != ("tpds2013-readings", readings.OURS):
                    self.assertIn(trial.name, rows)
