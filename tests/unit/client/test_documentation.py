"""The commands of README.md and doc/tenant.md do what they should, in their order."""

import base64
import os
import pathlib
import re

import fixtures

from nova_twotier.api.site import Site
from nova_twotier.client import progress
from nova_twotier.client.following import Follower
from nova_twotier.db.states import JobState
from tests.documented.runners import commands_of
from tests.unit.api.network import Network
from tests.unit.client.case import CommandCase, commands

ROOT = pathlib.Path(__file__).parents[3]


class TestDocumentation(CommandCase):
    OPTIONS = (
        "[job_events]\nallowed_webhooks = https://hooks.example.org/\n[manager]\nqos_classes = true"
    )

    def setUp(self):
        super().setUp()
        before = pathlib.Path.cwd()
        os.chdir(self.useFixture(fixtures.TempDir()).path)
        self.addCleanup(os.chdir, before)
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.client.progress.watch", self.start))
        # Nobody is there to press Ctrl-C.
        self.useFixture(fixtures.MockPatchObject(Follower, "new", return_value=()))
        for service in ("placement", "aggregates"):
            self.useFixture(fixtures.MockPatchObject(Site, service, Network.of_pods()))

    def start(self, api, job, show, until):
        """Jobs that are waited for start, or finish, at once."""
        over = until == progress.FINISHED
        self.change(job, state=JobState.FINISHED if over else JobState.RUNNING)

    def run_commands(self, page):
        text = (ROOT / page).read_text()
        for name, content in re.findall(r"^cat > (\S+) <<'END'\n(.*?)^END$", text, re.M | re.S):
            pathlib.Path(name).write_text(content)
        # What `openssl rand -base64 32` makes.
        pathlib.Path("hook.key").write_text(base64.b64encode(bytes(32)).decode() + "\n")
        every = commands_of("tests/unit/client/test_documentation.py")
        commands = [each for each in every if each.page == page]
        for each in commands:
            code, _out, error = self.openstack(*each.words[2:], by="admin:admin")
            self.assertEqual(0, code, f"{each}: {error}")
        return len(commands)

    def test_readme(self):
        self.assertGreater(self.run_commands("README.md"), 5)

    def test_devstack(self):
        self.assertGreater(self.run_commands("doc/devstack.md"), 1)

    def test_tenant(self):
        self.assertGreater(self.run_commands("doc/tenant.md"), 10)
        [batch] = self.api_of("admin:admin").jobs(name="batch")
        self.assertTrue(self.api_of("admin:admin").job(batch["uuid"])["has_user_data"])

    def test_every_option_is_told(self):
        command, name, _rest = commands().find_command(["twotier", "job", "create"])
        help_text = command(None, None).get_parser(name).format_help()
        told = set(re.findall(r"--[\w-]+", (ROOT / "doc/tenant.md").read_text()))
        # All but those of cliff, for the output.
        ours = help_text.partition("output formatters")[0] + help_text.partition("what it needs")[2]
        self.assertEqual(set(), set(re.findall(r"^ +(--[\w-]+)", ours, re.MULTILINE)) - told)
