"""`nova-twotier-status upgrade check` on real Nova and Placement, with the nova.conf we ship."""

import io
import json
import pathlib
from contextlib import redirect_stdout

import fixtures

from nova_twotier import conf as conf_package
from nova_twotier.cmd import status
from tests.functional.base import TwoTierTestCase
from tests.functional.operator_case import OperatorMixin

SHIPPED = pathlib.Path(conf_package.__file__).parent / "nova.conf"


class TestStatus(OperatorMixin, TwoTierTestCase):
    HOSTS = 2
    SLOTS = 2

    def configure(self):
        super().configure()
        self.flags(cpu_allocation_ratio=2.0)

    def setUp(self):
        super().setUp()
        self.access_of("nova_twotier.cmd.status")
        directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        policy = directory / "nova.conf"
        policy.write_text(
            f"[oslo_policy]\npolicy_file = {SHIPPED.with_name('nova-policy.yaml')}\n"
            "[scheduler]\nenable_isolated_aggregate_filtering = true\n"
        )
        self.files = ["--config-file", str(SHIPPED), "--config-file", str(policy)]

    def check(self):
        """Exit code, and what is not a success: details by check."""
        out = io.StringIO()
        with redirect_stdout(out):
            code = status.main([*self.files, "upgrade", "check", "--json"])
        checks = json.loads(out.getvalue())["checks"]
        return code, {each["check"]: each["details"] for each in checks if each["result"]}

    def test_a_cloud_in_the_making(self):
        code, wrong = self.check()
        self.assertEqual(2, code)
        flavor = {"CPU weights of flavors", "Servers past the queue"}
        self.assertEqual({"Two-tier hosts", *flavor}, wrong.keys())

        aggregate = self.aggregate_of(self.hosts, slots=2)
        self.tier_flavor(**{"quota:cpu_shares": "1024", "twotier:jobs_only": "true"})
        code, wrong = self.check()
        # The flavor of the other tests has no weight, and is for everybody.
        others = "Servers without a slot"
        self.assertEqual((1, {*flavor, others}), (code, wrong.keys()))
        self.assertIn("m1.", wrong[others])
        isolated = {"metadata": {"trait:CUSTOM_JOBS": "required"}}
        self.admin_api.post_aggregate_action(aggregate, {"set_metadata": isolated})
        self.assertEqual(flavor, self.check()[1].keys())
        self.api.delete_flavor(self.flavor)
        self.assertEqual((0, {}), self.check())

        self.describe(aggregate, tiers=3)
        code, wrong = self.check()
        self.assertEqual((2, {"CPU allocation ratio"}), (code, wrong.keys()))

    def test_an_old_placement(self):
        with fixtures.MonkeyPatch("nova_twotier.ledger.placement.MICROVERSION", "1.99"):
            _code, wrong = self.check()
        self.assertIn("does not know microversion", wrong["Nova and Placement"])
