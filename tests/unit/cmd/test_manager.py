"""What keeps `twotier-manager` from starting, in one line."""

import fixtures
from oslo_config import cfg

from nova_twotier.cmd import manager
from tests.unit.cmd.case import CommandCase, apart_from_log

COMPLETE = """
[manager]
flavor = f
image = i
[nova]
auth_type = none
endpoint_override = http://127.0.0.1:1
[placement]
auth_type = none
endpoint_override = http://127.0.0.1:1
"""


class TestMistakes(CommandCase):
    def refused(self):
        code, _out, err = self.run_main(manager.main)
        self.assertEqual(1, code)
        said = apart_from_log(err)
        self.assertEqual(1, said.count("\n"), err)
        return said

    def test_no_cloud_configured(self):
        self.assertIn("option [manager]flavor is not set", self.refused())

    def test_no_credentials(self):
        with self.conf.open("a") as conf:
            conf.write("[manager]\nflavor = f\nimage = i\n")
        self.assertIn("[nova] has no auth_type", self.refused())

    def test_wrong_option(self):
        self.conf.write_text("[manager]\npolicy = best\n")
        self.assertIn("policy", self.refused())

    def test_no_database_is_made(self):
        state = self.directory / "new"
        for options, words in (
            ("", "option [manager]flavor is not set"),
            ("[coordination]\nbackend_url = none://host\n", "[coordination]backend_url"),
            ("[notifications]\ntransport_url = none://host\n", "[notifications]transport_url"),
            ("[placement]\nauth_type = password\n", "[placement]: Auth plugin requires"),
            ("[placement]\ntimeout = long\n", "[placement]timeout"),
            ("[DEFAULT]\ndebug = often\n", "[DEFAULT]debug: Invalid Boolean value: often"),
            ("[DEFAULT]\nlog_config_append = /none\n", "[DEFAULT]log_config_append"),
            ("[DEFAULT]\nlog_file = /none/x.log\n", "[DEFAULT]log_file"),
        ):
            complete = COMPLETE if options else ""
            self.conf.write_text(f"[DEFAULT]\nstate_path = {state}\n{complete}{options}")
            self.assertIn(words, self.refused())
            self.assertFalse(state.exists(), options)

    def test_no_such_file(self):
        self.conf = self.directory / "other.conf"
        self.assertIn("no such configuration file", self.refused())

    def test_a_configuration_that_may_not_be_read(self):
        error = cfg.ConfigFilesPermissionDeniedError(["/etc/x.conf"])
        self.useFixture(fixtures.MockPatch("nova_twotier.conf._parse", side_effect=error))
        self.assertIn("permission denied: /etc/x.conf", self.refused())

    def test_database_that_cannot_be(self):
        self.conf.write_text(f"{COMPLETE}[database]\nconnection = sqlite:////proc/none/x.sqlite\n")
        self.assertIn("cannot be opened", self.refused())
