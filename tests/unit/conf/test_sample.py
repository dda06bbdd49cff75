"""The samples of configuration and policy, as doc/operator/queue-manager.md describes them."""

import pathlib
import re
import subprocess
import sys

import fixtures
import testtools

from tests.documented.runners import commands_of

ROOT = pathlib.Path(__file__).parents[3]
SAMPLES = ROOT / "etc/nova-twotier"
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


def sections(text):
    """What a configuration file says in each section of ours; the others are the libraries'."""
    parts = re.split(r"^\[(\w+)\]$", text, flags=re.MULTILINE)[1:]
    return {name: part for name, part in zip(parts[::2], parts[1::2], strict=True) if name in OURS}


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


class TestCommitted(testtools.TestCase):
    """The samples in `etc` are what `make sample` writes today."""

    def generated(self, program, kind):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "sample")
        configured = f"--config-file={SAMPLES}/{kind}-generator.conf"
        generator = pathlib.Path(sys.executable).with_name(program)
        subprocess.run([generator, configured, f"--output-file={path}"], check=True)
        return path.read_text()

    def test_configuration(self):
        committed = sections((SAMPLES / "nova-twotier.conf.sample").read_text())
        self.assertEqual(OURS, set(committed))
        self.assertEqual(committed, sections(self.generated("oslo-config-generator", "config")))

    def test_policy(self):
        committed = (SAMPLES / "policy.yaml.sample").read_text()
        self.assertEqual(committed, self.generated("oslopolicy-sample-generator", "policy"))
