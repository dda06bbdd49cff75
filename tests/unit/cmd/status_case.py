"""A nova.conf to check, and what a deployment looks like."""

import io
import json
import pathlib
import textwrap
from contextlib import redirect_stderr, redirect_stdout

import fixtures
import testtools
from oslo_upgradecheck.upgradecheck import Code

from nova_twotier import conf as conf_package
from nova_twotier.audit.checks.deployment import Facts
from nova_twotier.cmd import status
from nova_twotier.ledger.shape import Shape

SHIPPED = pathlib.Path(conf_package.__file__).parent / "nova.conf"
SUCCESS, WARNING, FAILURE = Code
POLICY = SHIPPED.with_name("nova-policy.yaml")
FLAVOR = {
    "resources:CUSTOM_TWOTIER_SLOT": "1",
    "quota:cpu_shares": "1024",
    "twotier:jobs_only": "true",
}
#: Of the aggregate of all two-tier hosts: only for servers that require this trait.
ISOLATED = {"twotier:slots": {"8"}, "trait:CUSTOM_JOBS": {"required"}}


def deployed(
    shapes=None, ratios=None, flavors=None, metadata=ISOLATED, vcpus=None, aggregates=None
):
    shapes = {"a": Shape(8, 2), "b": Shape(8, 2)} if shapes is None else shapes
    ratios = dict.fromkeys(shapes, 2.0) if ratios is None else ratios
    flavors = {"slot": FLAVOR, "m1": {}} if flavors is None else flavors
    vcpus = vcpus or {host: shape.slots * shape.tiers for host, shape in shapes.items()}
    aggregates = {"batch": set(metadata)} if aggregates is None else aggregates
    names = {f"{name}-id": name for name in flavors}
    by_host = dict.fromkeys(shapes, metadata)
    return Facts(shapes, ratios, vcpus, flavors, names, by_host, aggregates)


class StatusCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.access = self.write(
            "access.conf",
            f"""
            [nova]
            auth_type = none
            endpoint_override = http://127.0.0.1:9/v2.1
            [placement]
            auth_type = none
            endpoint_override = http://127.0.0.1:9
            [oslo_policy]
            policy_file = {POLICY}
            [scheduler]
            enable_isolated_aggregate_filtering = true
            """,
        )

    def write(self, name, text):
        path = self.directory / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    def main(self, *args):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = status.main(list(args))
        return code, out.getvalue(), err.getvalue()

    def check(self, change="", found=None, nova_conf=str(SHIPPED)):
        """Exit code, and code and details of each check, on the shipped file and a change."""
        files = [nova_conf, self.access, self.write("change.conf", change)]
        options = [option for path in files for option in ("--config-file", path)]
        seen = found or deployed()
        with fixtures.MonkeyPatch("nova_twotier.audit.checks.facts.gather", lambda *_: seen):
            code, out, _err = self.main(*options, "upgrade", "check", "--json")
        return code, {
            check["check"]: (check["result"], check["details"])
            for check in json.loads(out)["checks"]
        }

    def shows(self, name, code, words, change="", **others):
        """One check has this result, and its details say these words; all others pass."""
        exit_code, results = self.check(change, **others)
        self.assertEqual(code, exit_code, results)
        result, details = results.pop(name)
        self.assertEqual(code, result)
        self.assertIn(words, details)
        self.assertEqual({SUCCESS}, {result for result, _details in results.values()}, results)
