"""Every command in README.md, CONTRIBUTING.md and doc/ exists, with its options; most are run.

`tests/documented` finds them; `runners.py` there says which test runs which, and why the others are
only looked up here.
"""

import pathlib
import re

import testtools

from tests.documented import others, ours, pages, runners
from tests.documented.ours import Wrong
from tests.documented.pages import PAGES, ROOT


def trouble(words, whole=True):
    """What is wrong with a command; None if nothing is."""
    try:
        known = ours.check(words, whole) or others.check(words, whole)
    except Wrong as error:
        return str(error)
    return None if known else f"nobody knows {words[0]}"


class TestPages(testtools.TestCase):
    def test_blocks(self):
        commands = list(pages.every_command())
        wrong = [f"{each}: {why}" for each in commands if (why := trouble(each.words))]
        self.assertEqual([], wrong)
        self.assertGreater(len(commands), 200)

    def test_text(self):
        """A span may leave out arguments, and may be something else than a command."""
        count, wrong = 0, []
        for path in PAGES:
            for line, span in pages.spans(path.read_text()):
                for words in pages.split(span):
                    if not named(words):
                        continue
                    count += 1
                    if why := trouble(words, whole=False):
                        wrong.append(f"{path.relative_to(ROOT)}:{line}: {span}: {why}")
        self.assertEqual([], wrong)
        self.assertGreater(count, 250)

    def test_every_block_says_what_it_is(self):
        """Only those that say that they are shell are read."""
        without = [
            f"{path.relative_to(ROOT)}:{block.line}"
            for path in PAGES
            for block in pages.blocks(path.read_text())
            if not block.language
        ]
        self.assertEqual([], without)

    def test_each_command_is_run_or_there_is_a_reason(self):
        neither = [
            str(each)
            for each in pages.every_command()
            if runners.runner(each) is None and runners.reason(each) is None
        ]
        self.assertEqual([], neither)

    def test_who_is_to_run_them_asks_for_them(self):
        tests = {test for _page, _words, test in runners.RUNNERS if test}
        for test in tests:
            self.assertIn("commands_of(", (ROOT / test).read_text(), test)
            self.assertNotEqual([], list(runners.commands_of(test)), test)

    def test_no_reason_is_left_over(self):
        checked = [each for each in pages.every_command() if runners.runner(each) is None]
        used = {why for each in checked if (why := runners.reason(each))}
        self.assertEqual(set(runners.CHECKED.values()), used)

    def test_tests_that_reasons_name_are_there(self):
        text = " ".join([*runners.CHECKED.values(), *others.ALLOWED.values()])
        for path in re.findall(r"\btests/[\w/]+(?:\.py)?", text):
            self.assertTrue((ROOT / path).exists(), path)


def named(words):
    """Whether words in a text are meant as a command that can be looked up."""
    program = pathlib.PurePath(words[0]).name
    if program == "make":
        return len(words) > 1 and re.fullmatch(r"[a-z-]+", words[1]) and len(words) < 4
    if program == "openstack":
        return len(words) > 1 and words[1:] != ["twotier"]
    return program in ours.PROGRAMS or program in others.PROGRAMS or program.startswith("python")


class TestExtraction(testtools.TestCase):
    """What is extracted, with its line."""

    def commands(self, page):
        return [(each.line, list(each.words)) for each in pages.commands(page)]

    def test_lines_of_blocks(self):
        page = "`x`\n```shell\na \\\n  b   # c\ncat > f <<'END'\nd\nEND\n```\n```python\nf\n```\n"
        self.assertEqual([(3, ["a", "b"]), (5, ["cat"])], self.commands(page))
        self.assertEqual([(1, "x")], list(pages.spans(page)))

    def test_a_console_has_prompts(self):
        page = "1. x\n\n   ```console\n   $ a b\n   printed\n   $ c\n   ```\n"
        self.assertEqual([(4, ["a", "b"]), (6, ["c"])], self.commands(page))

    def test_what_is_no_shell(self):
        self.assertEqual([], self.commands("```text\na\n```\n```ini\nb = 1\n```\n"))

    def test_commands_of_a_line(self):
        for line, words in (
            ("A=1 a --b 'c d' > e  # f", [["a", "--b", "c d"]]),
            ("a > e && b; c | d &", [["a"], ["b"], ["c"], ["d"]]),
            ("a $(b c) d", [["b", "c"], ["a", "X", "d"]]),
            ("git clone <this repository> here", [["git", "clone", "X", "here"]]),
            ("for a in b c; do d $a; done", [["for", "a", "in", "b", "c"], ["d", "$a"], ["done"]]),
        ):
            self.assertEqual(words, list(pages.split(line)), line)


class TestChecks(testtools.TestCase):
    """What is refused, and what is not."""

    def check(self, line, whole=True):
        [words] = pages.split(line)
        return trouble(words, whole)

    def test_what_is_not_there(self):
        for line in (
            "openstack twotier job make --size 4",
            "openstack twotier job create --size 4 --colour red",
            "openstack twotier job create",
            "openstack twotier queue set --pol easy",
            "openstack server make x",
            "openstack aggregate set --propery a=b x",
            "openstack resource providers list",
            "twotier-sim policies",
            "twotier-sim run lublin:1000 --policies easy",
            "twotier-manage ledger check",
            "twotier-manage db purge --older-than 90 --force",
            "twotier-manage db purge",
            "nova-twotier-status upgrade checks",
            "fakecloud up --mangler",
            ".venv/bin/twotier-calibrate --speed 3",
            "twotier-manager --nodebug",
            "python -m nova_twotier.tools.reason",
            "python benchmarks/manger.py",
            "pytest tests/cloud/test_nothing.py",
            "make tests",
            "pip install 'nova-twotier[apis]'",
            "nox --session wheels",
            "oslo-config-generator --namespace nova_two_tier",
            "twotier-simulate lublin:1000",
        ):
            self.assertIsNotNone(self.check(line), line)

    def test_what_is_there(self):
        for line in (
            "openstack twotier job list --all-projects",
            "openstack --os-compute-api-version 2.74 server list",
            "openstack resource provider list",
            "twotier-manage --config-file x db purge --older-than 90 --config-dir y",
            "twotier-calibrate ... --output second",
            "twotier-manager --config-file x",
            "make faults FAULTS='--seed 7'",
            "pip install 'nova-twotier[api,client]' osc-placement",
            "systemctl restart twotier-manager",
        ):
            self.assertIsNone(self.check(line), line)

    def test_part_of_a_command(self):
        self.assertIsNone(self.check("openstack twotier job create", whole=False))
        self.assertIsNotNone(self.check("openstack twotier job creates", whole=False))
