"""The systemd units start what is installed, and restart what has failed."""

import configparser
import pathlib

import testtools

from nova_twotier.conf import api

ROOT = pathlib.Path(__file__).parents[2]


def read(path):
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str
    parser.read_string(path.read_text())
    return parser


class TestUnits(testtools.TestCase):
    def test_start_our_commands(self):
        scripts = read(ROOT / "setup.cfg")["options.entry_points"]["console_scripts"]
        installed = {line.partition("=")[0].strip() for line in scripts.splitlines()}
        units = {path.stem: read(path) for path in (ROOT / "contrib/systemd").iterdir()}
        self.assertEqual({"nova-twotier-agent", "twotier-api", "twotier-manager"}, set(units))
        for name, unit in units.items():
            program, *arguments = unit["Service"]["ExecStart"].split()
            self.assertEqual(name, pathlib.Path(program).name)
            self.assertIn(name, installed)
            self.assertEqual("--config-file", arguments[0])
            self.assertEqual("on-failure", unit["Service"]["Restart"])
            self.assertEqual("multi-user.target", unit["Install"]["WantedBy"])

    def test_the_api_has_descriptors_for_its_connections(self):
        connections = next(opt.default for opt in api.OPTS if opt.name == "max_connections")
        unit = read(ROOT / "contrib/systemd/twotier-api.service")
        # The server takes twice as many while all are being answered.
        self.assertGreaterEqual(int(unit["Service"]["LimitNOFILE"]), 2 * connections + 1000)
