"""The commands of ours in the documentation exist, with their options."""

import re

import testtools

from tests.unit.documented import PAGES, ROOT, Wrong, check, commands, in_blocks, in_text


def found(lines, whole):
    """The commands of ours in lines, and what is wrong with them."""
    ours, wrong = [], []
    for line in lines:
        for words in commands(line):
            try:
                if check(words, whole):
                    ours.append(words)
            except Wrong as error:
                wrong.append(f"{line}: {error}")
    return ours, wrong


class TestPages(testtools.TestCase):
    def checked(self, extract, whole, least):
        count, wrong = 0, []
        for page in PAGES:
            ours, errors = found(extract(page.read_text()), whole)
            count += len(ours)
            wrong += [f"{page.relative_to(ROOT)}: {error}" for error in errors]
        self.assertEqual([], wrong)
        self.assertGreater(count, least)

    def test_blocks(self):
        self.checked(in_blocks, True, 100)

    def test_text(self):
        self.checked(in_text, False, 150)

    def test_make(self):
        targets = set(re.findall(r"^([\w-]+):(?!=)", (ROOT / "Makefile").read_text(), re.M))
        for page in PAGES:
            for line in in_blocks(page.read_text()):
                for words in commands(line):
                    if words[0] == "make":
                        named = [word for word in words[1:] if re.fullmatch(r"[a-z-]+", word)]
                        self.assertLessEqual(set(named), targets, line)


class TestExtraction(testtools.TestCase):
    """What is extracted, and what is refused."""

    def test_lines_of_blocks(self):
        page = "`x`\n```\na \\\n  b   # c\ncat > f <<'END'\nd\nEND\n$ e\n```\n```python\nf\n```\n"
        self.assertEqual(["a    b   # c", "cat > f", "e"], list(in_blocks(page)))
        self.assertEqual(["x"], list(in_text(page)))

    def test_commands_of_a_line(self):
        for line, words in (
            ("A=1 a --b 'c d' > e  # f", [["a", "--b", "c d"]]),
            ("a && b; c | d &", [["a"], ["b"], ["c"], ["d"]]),
            ("a $(b c) d", [["b", "c"], ["a", "X", "d"]]),
        ):
            self.assertEqual(words, list(commands(line)), line)

    def test_what_is_not_there(self):
        for line in (
            "openstack twotier job make --size 4",
            "openstack twotier job create --size 4 --colour red",
            "openstack twotier job create",
            "openstack twotier queue set --pol easy",
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
        ):
            _ours, wrong = found([line], True)
            self.assertEqual(1, len(wrong), line)

    def test_what_is_there(self):
        for line in (
            "openstack twotier job list --all-projects",
            "twotier-manage --config-file x db purge --older-than 90 --config-dir y",
            "twotier-calibrate ... --output second",
            "twotier-manager --config-file x",
        ):
            ours, wrong = found([line], True)
            self.assertEqual((1, []), (len(ours), wrong), line)

    def test_what_is_not_ours(self):
        for line in ("openstack server list", "ls -l", "openstack twotier", "don't"):
            self.assertEqual(([], []), found([line], True), line)
