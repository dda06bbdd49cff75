"""The commands and options that doc/from-slurm.md names are there."""

import pathlib
import re

from tests.unit.client.case import CommandCase, commands

PAGE = pathlib.Path(__file__).parents[3] / "doc" / "from-slurm.md"


class TestPage(CommandCase):
    def setUp(self):
        super().setUp()
        self.known = {
            name.removeprefix("twotier ")
            for name, _entry in commands()
            if name.startswith("twotier ")
        }

    def ours(self):
        """The command lines in the second column of the tables."""
        for line in PAGE.read_text().splitlines():
            cells = line.split(" | ")
            if line.startswith("| ") and len(cells) > 1:
                for span in re.findall(r"`([^`]+)`", cells[1]):
                    command = " ".join(span.split()[:2])
                    if span.split()[0] in {name.split()[0] for name in self.known}:
                        yield command, re.findall(r"--?[a-z-]+", span.removeprefix(command))

    def test_they_exist(self):
        count = 0
        for command, options in self.ours():
            self.assertIn(command, self.known)
            factory, _name, _rest = commands().find_command(["twotier", *command.split()])
            parser = factory(None, None).get_parser(command)
            for option in options:
                self.assertIn(option, parser._option_string_actions, command)
                count += 1
        self.assertGreater(count, 25)

    def test_what_is_missing_says_why(self):
        rows = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines()]
        missing = [row for row in rows if len(row) > 1 and row[1] == "-"]
        self.assertGreater(len(missing), 10)
        for row in missing:
            self.assertEqual(3, len(row), row)
