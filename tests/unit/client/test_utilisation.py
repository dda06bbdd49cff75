"""`openstack twotier utilisation list`: a table for people, plain numbers for programs."""

import csv
import io

from nova_twotier.db.utilisation import HOUR
from tests.unit.api.test_utilisation import UtilisationCase
from tests.unit.client.case import CommandCase
from tests.unit.db.utilisation_behaviour import sample


class TestUtilisation(UtilisationCase, CommandCase):
    def setUp(self):
        super().setUp()
        # Both in one interval of an hour.
        self.now = self.now // HOUR * HOUR + 30 * 60
        self.minute = int(self.now)
        self.now += 20.0
        self.sampled((1, sample(2, 4)), (0, sample(3, 1, 90.5)))

    def listed(self, *words, by="alice:demo"):
        return self.succeed("utilisation", "list", *words, by=by)

    def test_a_table(self):
        table = self.listed()
        head = ("At", "FG Used", "FG Open", "BG Used", "BG Open")
        self.assertRegex(table, r" +\| ".join((*head, "Jobs Waiting", "Processes Waiting", "Lost")))
        row = (":00:00Z", "2.5", "7.0", "1.0", "3.0", "2.5", "5.0", "0:01:30")
        self.assertRegex(table, r" +\| +".join(row))

    def test_for_programs(self):
        [row] = csv.DictReader(io.StringIO(self.listed("-f", "csv", "--pool", "default")))
        self.assertEqual(("2.5", "90.5"), (row["FG Used"], row["Lost"]))
        self.assertRegex(row["At"], r":00:00\.000\+00:00$")

    def test_the_window(self):
        lines = self.listed("--from", "2h", "--points", "2000", "-f", "value").splitlines()
        self.assertEqual(2, len(lines))
        self.assertEqual("", self.listed("--from", "3d", "--to", "2d", "-f", "value").strip())

    def test_a_pool_that_there_is_not(self):
        said = self.refused("utilisation", "list", "--pool", "none")
        self.assertIn("there is no such pool", said)
