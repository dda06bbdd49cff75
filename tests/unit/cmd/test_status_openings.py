"""`nova-twotier-status upgrade check`: ways for tenants around the filters and the queue."""

import json
import pathlib
import subprocess
import sys
from importlib import metadata

import fixtures
from nova.conf import opts

from nova_twotier.audit.checks import config_files
from tests.unit.cmd.status_case import (
    FAILURE,
    FLAVOR,
    POLICY,
    SUCCESS,
    WARNING,
    StatusCase,
    deployed,
)


class TestOpenings(StatusCase):
    """Ways past the filters and the queue."""

    def test_release_of_nova(self):
        name = "Release of Nova"
        for version, fixed in (
            ("30.3.0", "31.3.1"),
            ("31.3.0", "31.3.1"),
            ("32.2.0", "32.2.1"),
            ("33.0.1", "33.0.2"),
        ):
            with fixtures.MonkeyPatch("importlib.metadata.version", lambda _name, v=version: v):
                self.shows(name, WARNING, f"Nova {version} accepts the hint _nova_check_type")
                self.shows(name, WARNING, f"upgrade to {fixed} or later")
        for version in ("31.3.1", "32.2.1", "33.0.2", "34.0.0", "35.0.0.0rc1"):
            with fixtures.MonkeyPatch("importlib.metadata.version", lambda _name, v=version: v):
                self.assertEqual(SUCCESS, self.check()[0], version)

    def test_nova_is_elsewhere(self):
        def version(name):
            raise metadata.PackageNotFoundError(name)

        with fixtures.MonkeyPatch("importlib.metadata.version", version):
            code, results = self.check()
        self.assertEqual(SUCCESS, code)
        self.assertIn("not checked: Nova is not installed here", results["Release of Nova"][1])

    def test_forced_hosts(self):
        rule = "os_compute_api:servers:create:forced_host"
        for text, words in (
            ("", "administrators may force servers onto hosts"),
            ('"other": "!"', "administrators may force servers onto hosts"),
            (f'"{rule}": "role:member"', "is 'role:member'), past the filters"),
        ):
            policy = self.write("policy.yaml", text)
            change = f"[oslo_policy]\npolicy_file = {policy}\n"
            self.shows("Servers on forced hosts", WARNING, words, change)
            self.shows("Servers on forced hosts", WARNING, f'"{rule}": "!"', change)

    def test_policy_that_is_elsewhere_or_broken(self):
        change = "[oslo_policy]\npolicy_file = nowhere.yaml\n"
        self.shows("Servers on forced hosts", WARNING, "not known, since no policy file", change)
        for text in ("- a list", "{"):
            policy = self.write("broken.yaml", text)
            change = f"[oslo_policy]\npolicy_file = {policy}\n"
            self.shows("Servers on forced hosts", FAILURE, "policy cannot be read: ", change)

    def test_a_directory_of_policies_that_is_a_file(self):
        wrong = self.write("policies.d", "")
        change = f"[oslo_policy]\npolicy_dirs = {wrong}\n"
        self.shows("Servers on forced hosts", FAILURE, "Not a directory", change)

    def test_access_rules_of_the_api(self):
        name = "Access rules of the API"
        policy = self.write("ours.yaml", "")
        change = f"[manager]\nflavor = slot\n[oslo_policy]\npolicy_file = {policy}\n"
        self.assertEqual((SUCCESS, None), self.check(change)[1][name])
        for text, words in (
            ('"a": "rule:b"\n"b": "rule:a"', "rules refer to each other in a circle: a -> b -> a"),
            ('"twotier:jobs:list": "rule:nobody"', "refers to the rule nobody, which does not"),
            ("{", "while parsing"),
        ):
            self.write("ours.yaml", text)
            self.shows(name, FAILURE, words, change)
            self.shows(name, FAILURE, f"policy file {policy}: ", change)
        directory = self.directory / "ours.d"
        directory.mkdir()
        (directory / "ours.conf").write_text(change)
        _code, out, _err = self.main("--config-dir", str(directory), "upgrade", "check", "--json")
        results = {check["check"]: check["details"] for check in json.loads(out)["checks"]}
        self.assertIn(f"policy file {policy}: ", results[name])

    def test_the_policy_of_the_api_is_not_novas(self):
        """Nova's policy file and ours have the same name, each beside its service's file."""
        name = "Servers on forced hosts"
        rule = "os_compute_api:servers:create:forced_host"
        change = "[manager]\nflavor = slot\n[oslo_policy]\npolicy_file = ours.yaml\n"
        self.write("ours.yaml", f'"{rule}": "@"\n')
        self.assertEqual((SUCCESS, None), self.check(change)[1][name])
        pathlib.Path(self.access).write_text(
            pathlib.Path(self.access).read_text().replace(str(POLICY), "ours.yaml")
        )
        self.shows(name, WARNING, f"is '@'), past the filters: write \"{rule}\"", change)

    def test_ours_are_told_from_novas_without_options_of_the_manager(self):
        name = "Access rules of the API"
        policy = self.write("ours.yaml", "{")
        rules = f"[oslo_policy]\npolicy_file = {policy}\n"
        for ours in (
            "[api]\nport = 8780\n",
            "[api]\nauth_strategy = keystone\nboard = true\n",
            "[coordination]\nlease = 20\n",
        ):
            self.shows(name, FAILURE, f"policy file {policy}: ", ours + rules)
        for others in ("[api]\nauth_strategy = keystone\nmax_limit = 9\n", "[nova]\n"):
            self.shows("Servers on forced hosts", FAILURE, "policy cannot be read", others + rules)

    def test_what_nova_has_is_not_taken_for_ours(self):
        for group, options in opts.list_opts():
            self.assertNotIn(str(group), config_files.OURS)
            if str(group) == "api":
                names = {option.dest for option in options}
                self.assertEqual(set(), names & config_files.OURS_OF_API)

    def test_the_api_is_elsewhere(self):
        program = (
            "import sys; sys.modules['oslo_policy'] = None; "
            "from nova_twotier.cmd import status; sys.exit(status.main(sys.argv[1:]))"
        )
        ours = self.write("ours.conf", "[manager]\nflavor = slot\n")
        options = ["--config-file", ours, "upgrade", "check", "--json"]
        done = subprocess.run(
            [sys.executable, "-c", program, *options], capture_output=True, text=True, check=False
        )
        [details] = [
            check["details"]
            for check in json.loads(done.stdout)["checks"]
            if check["check"] == "Access rules of the API"
        ]
        self.assertEqual("not checked: run this where twotier-api is installed", details)

    def test_directories_of_policies(self):
        """As in Nova, the last file with the rule counts, and hidden files are skipped."""
        rule = "os_compute_api:servers:create:forced_host"
        directory = self.directory / "policies"
        directory.mkdir()
        (directory / "1.yaml").write_text(f'"{rule}": "@"')
        change = f"[oslo_policy]\npolicy_dirs = {directory}\n"
        self.shows("Servers on forced hosts", WARNING, "1.yaml lets servers", change)
        (directory / ".2.yaml").write_text(f'"{rule}": "!"')
        (directory / ".2.yaml.swp").write_bytes(b"b0VIM\x00\xff")
        self.shows("Servers on forced hosts", WARNING, "1.yaml lets servers", change)
        (directory / "2.yaml").write_text(f'"{rule}": "!"')
        self.assertEqual(SUCCESS, self.check(change)[0])

    def flavor(self, jobs_only=None, tiers=None, trait=None):
        specs = {key: value for key, value in FLAVOR.items() if key != "twotier:jobs_only"}
        specs |= {"twotier:jobs_only": jobs_only} if jobs_only else {}
        specs |= {"twotier:tiers": tiers} if tiers else {}
        specs |= {f"trait:CUSTOM_TWOTIER_{trait}": "required"} if trait else {}
        return deployed(flavors={"slot": specs})

    def test_servers_past_the_queue(self):
        name = "Servers past the queue"
        for flavor in ({}, {"tiers": "bg"}, {"jobs_only": "false"}, {"jobs_only": "perhaps"}):
            words = "with slot: set twotier:jobs_only=true, or"
            self.shows(name, WARNING, words, found=self.flavor(**flavor))
        for flavor in ({"jobs_only": "True"}, {"tiers": "bg", "trait": "BG"}):
            self.assertEqual(SUCCESS, self.check(found=self.flavor(**flavor))[0])

    def test_a_trait_of_another_tier(self):
        for tiers, shown in ((None, "not set"), ("bg", "bg"), ("fg,bg", "fg,bg")):
            found = self.flavor(tiers=tiers, trait="FG")
            words = f"in slot (twotier:tiers={shown})"
            self.shows("Servers past the queue", FAILURE, words, found=found)
