"""Options that are numbers."""

import pathlib

import fixtures
import testtools
from oslo_config import cfg

from nova_twotier import conf as config
from nova_twotier.conf import scheduler


def numbers():
    """Group and name of each option that takes fractions."""
    return {
        (group.name, option.dest)
        for group, options in config.list_opts()
        for option in options
        if group and getattr(option.type, "num_type", int) is float
    }


class TestNumbers(testtools.TestCase):
    def load(self, group, option, value):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "nova-twotier.conf")
        path.write_text(f"[{group}]\n{option} = {value}\n")
        return config.load(["--config-file", str(path)], "test")

    def test_no_program_takes_what_is_not_finite(self):
        """Bounds alone let `nan` pass: it is neither too small nor too great."""
        ours = {each for each in numbers() if each[0] != scheduler.GROUP.name}
        self.assertLess({("agent", "threshold"), ("nova", "timeout")}, ours)
        for group, option in sorted(ours):
            for value in ("nan", "-nan", "inf", "-inf", "1e999"):
                error = self.assertRaises(config.ConfigError, self.load, group, option, value)
                self.assertIn(f"[{group}]{option}", str(error))

    def test_nor_does_the_scheduler(self):
        conf = cfg.ConfigOpts()
        scheduler.register_opts(conf)
        for group, option in sorted(numbers()):
            if group == scheduler.GROUP.name:
                error = self.assertRaises(ValueError, conf.set_override, option, "nan", group)
                self.assertEqual("Should be a finite number, not nan", str(error))

    def test_others_are_taken(self):
        self.assertEqual(0.5, self.load("agent", "threshold", " 0.5 ").agent.threshold)
        self.assertEqual(0.0, self.load("agent", "sample_interval", "0").agent.sample_interval)
        self.assertEqual(1e5, self.load("agent", "window", "1e5").agent.window)
