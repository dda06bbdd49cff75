"""Two configurations in one process."""

import pathlib

import fixtures
import testtools

from nova_twotier import conf as config
from nova_twotier.cloud.sessions import session_for
from nova_twotier.conf.cloud import list_opts

PASSWORD = """
[nova]
auth_type = password
auth_url = http://127.0.0.1:1
username = twotier
password = secret
"""


class TestTwoConfigurations(testtools.TestCase):
    def load(self, text):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "nova-twotier.conf")
        path.write_text(text)
        return config.load(["--config-file", str(path)], "test")

    def test_what_one_needs_the_other_does_not(self):
        session_for(self.load(PASSWORD), "nova")
        self.assertIsNone(self.load("").nova.auth_type)

    def test_nobody_is_waited_for_for_ever(self):
        session, _options = session_for(self.load(PASSWORD), "nova")
        self.assertEqual(60, session.timeout)
        session, _options = session_for(self.load(f"{PASSWORD}timeout = 5\n"), "nova")
        self.assertEqual(5, session.timeout)
        for group, options in list_opts():
            [timeout] = [option for option in options if option.dest == "timeout"]
            self.assertEqual(60, timeout.default, group.name)

    def test_a_boot_is_not_repeated_before_nova_is_given_up_on(self):
        error = self.assertRaises(
            config.ConfigError, self.load, f"{PASSWORD}timeout = 120\n[manager]\nboot_grace = 120\n"
        )
        self.assertIn("boot_grace", str(error))
        self.load(f"{PASSWORD}timeout = 120\n[manager]\nboot_grace = 121\n")
