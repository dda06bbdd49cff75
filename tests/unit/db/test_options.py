"""The options of group [database]."""

import sys
from unittest import mock

import testtools

from nova_twotier.conf import database


class TestOptions(testtools.TestCase):
    def names(self):
        [(_group, options)] = database.list_opts()
        return {option.name for option in options}

    def test_all_that_the_connections_take(self):
        self.assertEqual({"connection", *database.SERVER}, self.names())

    def test_without_oslo_db(self):
        """The plugin and the ledger's commands are installed without it."""
        with mock.patch.dict(sys.modules, {"oslo_db": None}):
            self.assertEqual({"connection"}, self.names())
