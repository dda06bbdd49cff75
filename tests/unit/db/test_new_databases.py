"""Tests that open a copied database see what migrations make."""

import sqlite3

import fixtures
import testtools

from nova_twotier.db.store import Store
from tests.new_databases import new_store


class TestCopy(testtools.TestCase):
    def test_it_is_what_the_migrations_make(self):
        directory = self.useFixture(fixtures.TempDir()).path
        Store(f"sqlite:///{directory}/migrated.sqlite").close()
        new_store(self, f"sqlite:///{directory}/copied.sqlite")
        self.assertEqual(
            self.dump(f"{directory}/migrated.sqlite"), self.dump(f"{directory}/copied.sqlite")
        )

    def dump(self, path):
        """Its statements, in any order, and the mode of its journal."""
        connection = sqlite3.connect(path)
        self.addCleanup(connection.close)
        mode = connection.execute("PRAGMA journal_mode").fetchone()
        return sorted(connection.iterdump()), mode
