"""`twotier-manage snapshot`: mistakes are one line; what it writes is in the functional tests."""

from nova_twotier.cmd import manage
from nova_twotier.db.store import Store
from tests.unit.cmd.case import CommandCase


class TestMistakes(CommandCase):
    def snapshot(self, *args):
        return self.run_main(manage.main, "snapshot", *args)

    def test_no_database(self):
        missing = self.directory / "none.sqlite"
        self.conf.write_text(f"[database]\nconnection = sqlite:///{missing}\n")
        code, out, err = self.snapshot("--output", str(self.directory / "state.json"))
        self.assertEqual((2, "", 1), (code, out, err.count("\n")))
        self.assertIn(f"there is no manager's database {missing}", err)
        self.assertEqual([], list(self.directory.glob("state.json")))

    def test_configuration_of_no_manager(self):
        url = f"sqlite:///{self.directory}/queue.sqlite"
        Store(url).close()
        self.conf.write_text(f"[database]\nconnection = {url}\n")
        message = "option [manager]flavor is not set: jobs need one to boot"
        self.assertEqual((2, "", f"twotier-manage: {message}\n"), self.snapshot())
