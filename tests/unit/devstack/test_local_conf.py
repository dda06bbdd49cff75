"""The local.conf for fake hosts: a shell script for DevStack, and what is in it."""

import subprocess

import testtools

from tests.unit.devstack.runs import ROOT

#: DevStack gives the lines of this section to bash.
SECTION = "[[local|localrc]]\n"
#: What a two-tier cloud of fake hosts cannot do without.
NEEDED = {"key", "mysql", "rabbit", "g-api", "n-api", "n-cond", "n-sch", "n-cpu", "placement-api"}
SCRIPT = """
set -o errexit -o nounset
enable_plugin() { echo plugin "$@"; }
disable_service() { for each in "$@"; do echo without "$each"; done; }
%s
echo "$VIRT_DRIVER" "$NUMBER_FAKE_NOVA_COMPUTE"
"""


class TestLocalConf(testtools.TestCase):
    def test_says_what_it_should(self):
        text = (ROOT / "etc/nova-twotier/local.conf.fake").read_text()
        comment, section = text.split(SECTION)
        self.assertTrue(all(line.startswith("#") for line in comment.splitlines() if line))
        ran = subprocess.run(
            ["bash", "-c", SCRIPT % section], capture_output=True, text=True, check=True
        )
        plugin, *disabled, hosts = ran.stdout.splitlines()
        self.assertEqual("plugin nova-twotier https://git.example.org/nova-twotier main", plugin)
        self.assertEqual("fake 8", hosts)
        without = {line.removeprefix("without ") for line in disabled}
        self.assertEqual(set(), without & {*NEEDED, "twotier-manager", "twotier-api"})
        self.assertIn("horizon", without)
