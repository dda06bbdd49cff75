"""What the validators for Nova's API take, the plugin takes, and nothing else."""

import testtools
from nova import exception

from nova_twotier.core.flavors import EXTRA_SPECS
from nova_twotier.filters import extra_specs, tier_request
from tests.unit.plugin.fakes import JOB, request

VALUES = {
    "tier": {"fg": True, "bg": True, "": False, "FG": False, "fg,bg": False},
    "tiers": {"fg": True, "bg": True, "fg,bg": True, "bg,fg": True, "fg, bg": False, "": False},
    "jobs_only": {"true": True, "false": True, "True": True, "": False, "perhaps": False},
    "preemptible": {"shelve": True, "delete": True, "suspend": False, "true": False, "": False},
    "mbps": {"0": True, "250": True, "12.5": True, "-1": False, "1e3": False, "many": False},
}


class TestExtraSpecs(testtools.TestCase):
    def validators(self):
        return {each.name.removeprefix("twotier:"): each for each in extra_specs.register()}

    def by_api(self, validator, value):
        try:
            validator.validate(validator.name, value)
        except exception.ValidationError:
            return False
        return True

    def by_plugin(self, name, value):
        # A flavor's own tier has to be among those that it lists.
        own = {"tier": value[:2]} if name == "tiers" and value else {}
        try:
            tier_request.read(request(job=JOB, **{name: value, **own}))
        except tier_request.BadRequest:
            return False
        return True

    def test_values(self):
        for name, validator in self.validators().items():
            for value, expected in VALUES[name].items():
                found = self.by_api(validator, value), self.by_plugin(name, value)
                self.assertEqual((expected, expected), found, f"{name}={value}")

    def test_all_that_the_check_knows(self):
        self.assertEqual(set(EXTRA_SPECS), {each.name for each in extra_specs.register()})

    def test_described(self):
        self.assertEqual(set(VALUES), set(self.validators()))
        for name, validator in self.validators().items():
            self.assertIn("efault", validator.description, name)
