"""The sample configuration that who installs with pip prints: doc/operator.md says how."""

import pathlib
import re
import subprocess
import sys

import testtools

from tests.documented.runners import commands_of

ROOT = pathlib.Path(__file__).parents[3]
#: A generator in an installation without extras: what they bring cannot be imported.
PLAIN = """
import sys
for library in ("oslo_db", "sqlalchemy", "alembic", "tooz", "oslo_messaging", "falcon"):
    sys.modules[library] = None
from oslo_config import generator
generator.main(sys.argv[1:])
"""
OURS = {
    *("DEFAULT", "agent", "api", "coordination", "database", "job_events", "manager", "network"),
    *("notifications", "nova", "placement", "trust", "twotier"),
}


def namespaces(text):
    return set(re.findall(r"--namespace ([\w.]+)", text))


class TestSample(testtools.TestCase):
    def printed(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return set(re.findall(r"^\[(\w+)\]$", done.stdout, re.MULTILINE))

    def test_a_plain_installation_prints_it(self):
        sections = self.printed(sys.executable, "-c", PLAIN, "--namespace", "nova_twotier")
        self.assertEqual(OURS, sections)

    def test_what_operators_are_told_to_run(self):
        [command] = commands_of("tests/unit/conf/test_sample.py")
        program, *words = command.words
        generator = pathlib.Path(sys.executable).with_name(program)
        self.assertEqual({*OURS, "keystone_authtoken"}, self.printed(generator, *words))

    def test_the_readme_names_ours(self):
        self.assertEqual({"nova_twotier"}, namespaces((ROOT / "README.md").read_text()))
