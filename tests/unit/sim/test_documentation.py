"""The commands that the documentation shows for the simulator and its neighbours."""

import os
import pathlib
import re
import shlex

import fixtures
import testtools

from nova_twotier.cmd import manage
from nova_twotier.sim.cli.commands import Commands
from nova_twotier.tools.fakecloud import cli as fakecloud
from nova_twotier.tools.replay import cli as replay
from tests.unit.sim.test_cli import CommandCase

ROOT = pathlib.Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "doc").glob("*.md"))]
PARSERS = {
    "fakecloud": fakecloud._parser,
    "twotier-manage": manage._parser,
    "twotier-replay": replay._parser,
}


def commands(page):
    """The commands of these programs in a page's blocks, in words."""
    for block in re.findall(r"^```\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        for part in re.split(r"\n|&&|; do |; done", block.replace("\\\n", " ")):
            if part.strip().startswith(("twotier-sim ", *(f"{name} " for name in PARSERS))):
                yield shlex.split(part, comments=True)


class TestArguments(testtools.TestCase):
    def test_every_command_is_one(self):
        """Its arguments are those of the program: nothing runs."""
        count = 0
        for page in PAGES:
            for program, *words in commands(page):
                if program == "twotier-sim":
                    factory, name, words = Commands().find_command(words)
                    parser = factory(None, None).get_parser(name)
                    parser.error = self.fail
                else:
                    parser = PARSERS[program]()
                try:
                    parser.parse_args(words)
                except SystemExit:
                    self.fail(f"{page.name}: {program} {' '.join(words)}")
                count += 1
        self.assertGreater(count, 20)


class TestTranscripts(CommandCase):
    def test_what_if(self):
        before = pathlib.Path.cwd()
        os.chdir(self.useFixture(fixtures.TempDir()).path)
        self.addCleanup(os.chdir, before)
        # A command in a line of its own, then what it prints, or some lines of that.
        shown = re.findall(
            r"^`twotier-sim (what-if [^`]+)`\n(\(excerpt\):\n)?\n```\n(.*?)^```$",
            (ROOT / "doc" / "simulator.md").read_text(),
            re.MULTILINE | re.DOTALL,
        )
        self.assertEqual(2, len(shown))
        for command, excerpt, text in shown:
            printed = self.works(*shlex.split(command))
            if excerpt:
                self.assertEqual(
                    [], [x for x in text.splitlines() if x not in printed.splitlines()]
                )
            else:
                self.assertEqual(text, printed)
