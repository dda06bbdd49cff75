"""What keeps `twotier-manager` from starting, in one line."""

from nova_twotier.cmd import manager
from tests.unit.cmd.case import CommandCase


class TestMistakes(CommandCase):
    def refused(self):
        code, _out, err = self.run_main(manager.main)
        self.assertEqual(1, code)
        self.assertEqual(1, err.count("\n"), err)
        return err

    def test_no_cloud_configured(self):
        self.assertIn("option [manager]flavor is not set", self.refused())

    def test_no_credentials(self):
        with self.conf.open("a") as conf:
            conf.write("[manager]\nflavor = f\nimage = i\n")
        self.assertIn("[nova] has no auth_type", self.refused())

    def test_wrong_option(self):
        self.conf.write_text("[manager]\npolicy = best\n")
        self.assertIn("policy", self.refused())

    def test_no_such_file(self):
        self.conf = self.directory / "other.conf"
        self.assertIn("no such configuration file", self.refused())

    def test_database_that_cannot_be(self):
        self.conf.write_text("[database]\nconnection = sqlite:////proc/none/x.sqlite\n")
        self.assertIn("cannot be opened", self.refused())
