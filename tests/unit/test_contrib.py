"""The systemd units start what is installed, and the alerts fire when they should."""

import configparser
import pathlib
import re
import shutil
import subprocess
import unittest

import testtools
import yaml

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
            self.assertEqual("SIGHUP", unit["Service"]["RestartForceExitStatus"])
            self.assertEqual("multi-user.target", unit["Install"]["WantedBy"])
            # Else a log file is refused: all else is read-only for it.
            self.assertEqual("strict", unit["Service"]["ProtectSystem"])
            self.assertEqual("nova-twotier", unit["Service"]["LogsDirectory"])

    def test_the_api_has_descriptors_for_its_connections(self):
        connections = next(opt.default for opt in api.OPTS if opt.name == "max_connections")
        unit = read(ROOT / "contrib/systemd/twotier-api.service")
        # The server takes twice as many while all are being answered.
        self.assertGreaterEqual(int(unit["Service"]["LimitNOFILE"]), 2 * connections + 1000)


class TestAlerts(testtools.TestCase):
    ALERTS = ROOT / "contrib/prometheus/alerts.yml"
    TESTS = ROOT / "tests/unit/alerts.yml"
    GUIDE = "doc/operator/monitoring.md"

    def rules(self):
        [group] = yaml.safe_load(self.ALERTS.read_text())["groups"]
        return group["rules"]

    def test_each_says_how_bad_it_is_and_what_to_do(self):
        guide = (ROOT / self.GUIDE).read_text()
        titles = re.findall(r"^#+ (.*)$", guide, re.MULTILINE)
        anchors = {title.lower().replace(" ", "-") for title in titles}
        for rule in self.rules():
            self.assertIn(rule["labels"]["severity"], ("critical", "warning"))
            self.assertRegex(rule["for"], r"^\d+[mh]$")
            page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
            self.assertEqual(self.GUIDE, page)
            self.assertIn(anchor, anchors, rule["alert"])

    def test_each_has_a_test_in_which_it_fires(self):
        tests = yaml.safe_load(self.TESTS.read_text())["tests"]
        fire = {
            each["alertname"]
            for test in tests
            for each in test["alert_rule_test"]
            if each.get("exp_alerts")
        }
        self.assertEqual({rule["alert"] for rule in self.rules()}, fire)

    @unittest.skipUnless(shutil.which("promtool"), "no promtool (Debian: prometheus) in the PATH")
    def test_they_fire_when_they_should(self):
        for command in (("check", self.ALERTS), ("test", self.TESTS)):
            argv = ["promtool", command[0], "rules", str(command[1])]
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
