"""`openstack twotier usage`: tables for people, plain numbers for programs."""

import argparse
import csv
import io
import types

import testtools

from nova_twotier.client import arguments
from nova_twotier.client.commands.usage import BY
from nova_twotier.db.models import UsageDay
from nova_twotier.db.usage import By
from tests.unit.api.test_usage import NOON, UsageCase
from tests.unit.client.case import CommandCase

PERIOD = ("--start", "2026-03-10", "--end", "2026-03-11")


class TestUsage(UsageCase, CommandCase):
    def table(self, *words, by="alice:demo"):
        return self.succeed("usage", *words, *PERIOD, by=by)

    def rows(self, *words, by="alice:demo"):
        return list(csv.DictReader(io.StringIO(self.table("list", "-f", "csv", *words, by=by))))

    def test_show(self):
        shown = self.table("show")
        for name, value in (
            ("start", "2026-03-10T00:00:00Z"),
            ("foreground", "0:03:20"),
            ("slot_time", "0:04:10"),
            ("lost", "0:00:20"),
            ("jobs_ended", "2"),
        ):
            self.assertRegex(shown, rf"{name} +\| {value} ")

    def test_show_for_programs(self):
        found = self.shown("usage", "show", "--user", "bob", *PERIOD)
        self.assertEqual(
            (0.0, 50.0, 50.0, 20.0),
            tuple(found[name] for name in ("foreground", "background", "slot_time", "lost")),
        )
        self.assertEqual("bob", found["user_id"])

    def test_list_by_user(self):
        self.assertRegex(self.table("list"), r"alice +\| 0:03:20 ")
        self.assertEqual(
            [
                {
                    "User": "bob",
                    "Foreground": "0.0",
                    "Background": "50.0",
                    "Lost": "20.0",
                    "Started": "1",
                    "Ended": "1",
                }
            ],
            self.rows("--user", "bob"),
        )

    def test_csv_has_numbers_as_numbers(self):
        lines = self.table("list", "-f", "csv", "--user", "bob").splitlines()
        self.assertEqual('"bob",0.0,50.0,20.0,1,1', lines[1])

    def test_list_by_several(self):
        rows = self.rows("--by", "job,day")
        self.assertEqual(["1", "2"], [row["Number"] for row in rows])
        self.assertEqual("2026-03-10T00:00:00.000+00:00", rows[0]["Start"])
        self.assertEqual(("solver", "demo"), (rows[0]["Name"], rows[0]["Project"]))

    def test_list_by_class(self):
        with self.store.transaction() as session:
            names = {"project_id": "demo", "user_id": "alice", "pool": "default", "qos": ""}
            sums = {"foreground": 7.0, "background": 0.0, "lost": 0.0, "started": 0, "ended": 1}
            session.add(UsageDay(day=int(NOON // 86400), **names, **sums))
        shown = self.table("list", "--by", "qos")
        self.assertRegex(shown, r"(?m)^\| - +\| 0:00:07 ")
        self.assertRegex(shown, r"(?m)^\| normal +\| 0:03:20 +\| 0:00:50 ")
        lines = self.table("list", "-f", "csv", "--by", "user,qos").splitlines()
        self.assertEqual(
            [
                '"User","QoS","Foreground","Background","Lost","Started","Ended"',
                '"alice","",7.0,0.0,0.0,0,1',
                '"alice","normal",200.0,0.0,0.0,1,1',
                '"bob","normal",0.0,50.0,20.0,1,1',
            ],
            lines,
        )

    def test_list_of_all_projects(self):
        rows = self.rows("--all-projects", by="admin:admin")
        self.assertEqual(["demo", "other"], [row["Project"] for row in rows])
        [row] = self.rows("--project", "other", by="admin:admin")
        self.assertEqual("eve", row["User"])
        self.assertIn("(HTTP 403)", self.refused("usage", "list", "--all-projects"))

    def test_what_it_sums_by_is_what_the_api_knows(self):
        self.assertEqual(set(By), set(BY))

    def test_mistakes(self):
        for words, told in (
            (
                ("--by", "week"),
                "'week': give one or more of month, day, project, user, pool, qos, job",
            ),
            (("--start", "march"), "'march': give a day of UTC such as 2026-01-31, a time with"),
            (("--start", "2026-02-30"), "'2026-02-30': give a day of UTC"),
        ):
            code, _out, error = self.openstack("usage", "list", *words)
            self.assertEqual(2, code)
            self.assertIn(told, error)

    def test_projects_by_name(self):
        self.services = {"identity"}
        found = types.SimpleNamespace(id="demo")
        find = lambda name, ignore_missing: found if name == "Demo" else None  # noqa: E731
        self.sdk.identity = types.SimpleNamespace(find_project=find)
        self.assertEqual("demo", self.shown("usage", "show", "--project", "Demo")["project_id"])
        self.assertEqual(
            "there is no project 'x' for you; see openstack project list",
            self.refused("usage", "show", "--project", "x"),
        )

    def clients(self, token):
        clients = super().clients(token)
        clients.get_configuration = dict
        return clients


class TestTimes(testtools.TestCase):
    def test_days_and_other_times(self):
        self.assertEqual("2026-01-31T00:00:00+00:00", arguments.day_or_moment("2026-01-31"))
        self.assertEqual(
            "2026-01-31T12:00:00+01:00", arguments.day_or_moment("2026-01-31T12:00:00+01:00")
        )
        self.assertTrue(arguments.day_or_moment("7d"))
        self.assertRaises(argparse.ArgumentTypeError, arguments.day_or_moment, "20260131")

    def test_too_long_ago(self):
        for parse in (arguments.moment, arguments.day_or_moment):
            error = self.assertRaises(argparse.ArgumentTypeError, parse, "99999999999d")
            self.assertIn("'99999999999d' is too long: give 1000000000 seconds", str(error))
