"""Release notes are as reno and readers expect them; their text is read when the docs are built."""

import pathlib

import testtools
import yaml

ROOT = pathlib.Path(__file__).parents[2]
NOTES = sorted((ROOT / "releasenotes" / "notes").glob("*.yaml"))
#: Of reno, which leaves out others with no more than a line in its log.
SECTIONS = {
    *("prelude", "features", "issues", "upgrade", "deprecations", "critical", "security"),
    *("fixes", "other"),
}


class TestNotes(testtools.TestCase):
    def test_each(self):
        self.assertGreater(len(NOTES), 200)
        for path in NOTES:
            sections = yaml.safe_load(path.read_text())
            self.assertNotEqual(set(), set(sections), path.name)
            self.assertLessEqual(set(sections), SECTIONS, path.name)
            for name, notes in sections.items():
                if name != "prelude":
                    self.assertIsInstance(notes, list, path.name)
                    self.assertTrue(all(isinstance(n, str) and n.strip() for n in notes), path.name)

    def test_names_tell_them_apart(self):
        """The end of a name is what reno knows a note by, also after it was renamed."""
        ids = [path.stem.rpartition("-")[2] for path in NOTES]
        self.assertEqual(len(ids), len(set(ids)))
        for path in NOTES:
            self.assertRegex(path.stem, r"^[a-z0-9-]+-[0-9a-f]{16}$")

    def test_what_the_template_has_is_left_out(self):
        template = yaml.safe_load((ROOT / "releasenotes" / "config.yaml").read_text())["template"]
        example = {text for notes in yaml.safe_load(template).values() for text in notes}
        for path in NOTES:
            written = {n for notes in yaml.safe_load(path.read_text()).values() for n in notes}
            self.assertEqual(set(), written & example, path.name)
