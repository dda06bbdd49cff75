"""Reloading the configuration files of a process whose threads read options meanwhile."""

import pathlib
import tempfile
from unittest import mock

import testtools
from oslo_config import cfg

from nova_twotier import conf as config


class TestReload(testtools.TestCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = pathlib.Path(directory.name) / "twotier.conf"
        self.write(1)
        self.conf = cfg.ConfigOpts()
        self.conf.register_opt(cfg.IntOpt("size", mutable=True))
        self.conf([], default_config_files=[str(self.file)])

    def write(self, size):
        self.file.write_text(f"[DEFAULT]\nsize = {size}\n")

    def test_an_option_that_is_read_meanwhile(self):
        parse = self.conf._parse_config_files

        def reading():
            self.assertEqual(1, self.conf.size)
            return parse()

        self.write(2)
        with mock.patch.object(self.conf, "_parse_config_files", reading):
            config.reload(self.conf, lambda: None)
        self.assertEqual(2, self.conf.size)

    def test_wrong_files_change_nothing(self):
        def wrong():
            raise config.ConfigError("wrong")

        self.write(2)
        config.reload(self.conf, wrong)
        self.assertEqual(1, self.conf.size)
