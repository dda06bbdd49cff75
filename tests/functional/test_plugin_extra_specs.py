"""Extra specs at Nova's API: ours are known, and wrong values are refused with a reason."""

from nova.tests.functional.api import client

from tests.functional.base import BG, TwoTierTestCase


class TestExtraSpecs(TwoTierTestCase):
    HOSTS = 1

    def set(self, **extra_specs):
        body = {"extra_specs": {f"twotier:{name}": value for name, value in extra_specs.items()}}
        self.admin_api.post_extra_spec(self.flavor, body)

    def known(self):
        return self.admin_api.api_get(f"/flavors/{self.flavor}/os-extra_specs").body["extra_specs"]

    def test_right_values(self):
        self.set(tier="bg", tiers="fg,bg", mbps="12.5", jobs_only="true", preemptible="shelve")
        self.assertEqual("fg,bg", self.known()["twotier:tiers"])

    def test_wrong_values(self):
        before = self.known()
        for name, value, told in (
            ("tier", "middle", "'middle' is not one of: fg, bg"),
            ("tiers", "fg bg", "'fg bg' is not one of: fg, bg, fg,bg, bg,fg"),
            ("jobs_only", "perhaps", "'perhaps' is not a valid boolean-like value"),
            ("preemptible", "true", "'true' is not one of: shelve, delete"),
            ("mbps", "much", "'much' is not of the format"),
            ("teir", "fg", "'twotier:teir' does not appear to be a valid extra spec"),
        ):
            error = self.assertRaises(client.OpenStackApiException, self.set, **{name: value})
            self.assertEqual(400, error.response.status_code)
            self.assertIn(told, str(error))
        self.assertEqual(before, self.known())

    def test_flavor_for_jobs_only(self):
        self.set(tiers="fg,bg", jobs_only="true")
        [server] = self.boot(hints={"twotier:tier": "bg"}, expect="ERROR")
        self.assertIn("is for jobs of the queue manager only", self.fault_of(server))
        self.assertEqual((0, 0), self.totals())
        _job, [server] = self.boot_job(BG, 1)
        self.assertEqual(BG, self.claim_of(server)[1])

    def test_wrong_value_that_an_older_api_let_pass(self):
        """The scheduler refuses it, and says why."""
        self.admin_api.microversion = "2.85"
        self.set(tier="middle")
        [server] = self.boot(expect="ERROR")
        fault = self.api.get_server(server["id"])["fault"]["message"]
        self.assertIn("twotier:tier='middle' is wrong; allowed: fg or bg", fault)
        self.assertEqual((0, 0), self.totals())
