"""The nova.conf that the plugin leaves behind is the one that the fake cloud runs with."""

import pathlib

import fixtures
import testtools
from nova.conf import compute, quota, scheduler
from oslo_config import cfg
from oslo_upgradecheck.upgradecheck import Code

from nova_twotier.audit.checks import configuration, nova_options, openings
from nova_twotier.conf import manager
from nova_twotier.conf import scheduler as ours
from nova_twotier.filters import all_filters
from nova_twotier.tools.fakecloud import inifile, novaconf
from nova_twotier.tools.fakecloud.layout import Layout
from nova_twotier.tools.fakecloud.settings import Settings
from tests.unit.devstack.runs import ROOT, DevStack, options

#: Options whose values differ, and why they must.
DIFFERENT = {
    ("filter_scheduler", "enabled_filters"): "DevStack's own list has filters for Tempest",
}
FOR_TEMPEST = {"SameHostFilter", "DifferentHostFilter"}


def loaded(path):
    """A configuration file with the options of Nova and ours that decide on scheduling."""
    conf = cfg.ConfigOpts()
    for module in (compute, quota, scheduler, ours, manager):
        module.register_opts(conf)
    conf.register_opts(nova_options.OSLO_POLICY, group="oslo_policy")
    conf([], project="nova", default_config_files=[str(path)], default_config_dirs=[])
    return conf


class TestNovaConf(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.stack = DevStack(self.directory)

    def plugins(self, **settings):
        self.stack.settings.update(settings)
        self.stack.run("stack", "post-config")
        return loaded(self.stack.nova_conf)

    def fake_clouds(self, **settings):
        settings = Settings(self.directory / "cloud", **settings)
        path = self.directory / "fakecloud.conf"
        inifile.write(path, novaconf.base(settings, Layout(settings.dir)))
        return loaded(path)

    def recommended(self):
        found = {
            (section, option)
            for section, found in options(ROOT / "nova_twotier/conf/nova.conf").items()
            for option in found
        }
        self.assertLessEqual({*DIFFERENT}, found)
        return found

    def test_every_recommended_option_exists(self):
        conf = loaded(ROOT / "nova_twotier/conf/nova.conf")
        for section, option in self.recommended():
            group = conf if section == "DEFAULT" else conf[section]
            self.assertIn(option, group, section)

    def test_recommended_options_are_equal(self):
        plugins, fake_clouds = self.plugins(), self.fake_clouds()
        for section, option in self.recommended() - set(DIFFERENT):
            if section == "DEFAULT":
                self.assertEqual(fake_clouds[option], plugins[option], option)
            else:
                self.assertEqual(fake_clouds[section][option], plugins[section][option], option)

    def test_so_is_everything_else_of_the_scheduler_and_the_quotas(self):
        plugins, fake_clouds = self.plugins(), self.fake_clouds()
        for section in ("scheduler", "filter_scheduler", "quota", "twotier"):
            for option in fake_clouds[section]:
                if (section, option) not in DIFFERENT:
                    self.assertEqual(fake_clouds[section][option], plugins[section][option], option)

    def test_the_filters_are_equal_but_for_tempests(self):
        plugins = self.plugins().filter_scheduler.enabled_filters
        self.assertLess(FOR_TEMPEST, set(plugins))
        self.assertEqual(
            self.fake_clouds().filter_scheduler.enabled_filters,
            [name for name in plugins if name not in FOR_TEMPEST],
        )

    def test_all_of_our_filters_are_enabled(self):
        names = {each.__name__ for each in all_filters()}
        self.assertLessEqual(names, set(self.plugins().filter_scheduler.enabled_filters))

    def test_the_upgrade_check_has_nothing_to_say(self):
        conf = self.plugins()
        for check in (
            configuration.available_filters,
            configuration.enabled_filters,
            configuration.weighers,
            configuration.attempts,
            configuration.best_host,
            configuration.quota_counting,
            configuration.offloading,
            openings.nova_release,
            openings.forced_hosts,
        ):
            result = check(conf)
            self.assertEqual(Code.SUCCESS, result.code, result.details)

    def test_nobody_forces_hosts(self):
        for conf in (self.plugins(), self.fake_clouds()):
            result = openings.forced_hosts(conf)
            self.assertEqual(Code.SUCCESS, result.code, result.details)

    def test_more_tiers(self):
        self.assertEqual(3.0, self.plugins(TWOTIER_TIERS="3").cpu_allocation_ratio)
        self.assertEqual(3.0, self.fake_clouds(tiers=3).cpu_allocation_ratio)

    def test_a_fake_cloud_with_more_results_than_is_recommended(self):
        conf = self.fake_clouds(hosts=1000, tiers=64)
        self.assertEqual(64000, conf.scheduler.max_placement_results)

    def test_filters_of_others_stay(self):
        self.stack.nova_conf.write_text(
            "[filter_scheduler]\n"
            "available_filters = nova.scheduler.filters.all_filters\n"
            "available_filters = other.Filter\n"
            "enabled_filters = ComputeFilter, OtherFilter\n"
        )
        before = options(self.stack.nova_conf)
        conf = self.plugins()
        self.assertEqual(
            [
                "nova.scheduler.filters.all_filters",
                "other.Filter",
                "nova_twotier.filters.all_filters",
            ],
            conf.filter_scheduler.available_filters,
        )
        enabled = conf.filter_scheduler.enabled_filters
        self.assertEqual(["ComputeFilter", "OtherFilter"], enabled[:2])
        ours = ["TierFilter", "BackgroundThresholdFilter", "VirtualClusterFilter"]
        self.assertEqual(ours, enabled[-3:])
        self.stack.run("clean")
        self.assertEqual(before, options(self.stack.nova_conf))

    def test_without_the_plugin_a_fake_cloud_has_novas_scheduler(self):
        conf = self.fake_clouds(plugin=False)
        self.assertEqual(
            ["nova.scheduler.filters.all_filters"], conf.filter_scheduler.available_filters
        )
        self.assertNotIn("TierFilter", conf.filter_scheduler.enabled_filters)
        self.assertEqual(
            ["nova.scheduler.weights.all_weighers"], conf.filter_scheduler.weight_classes
        )
