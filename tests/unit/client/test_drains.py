"""`openstack twotier host drain` and `host undrain`."""

import time
from datetime import datetime

import fixtures

from nova_twotier.api.site import Site
from nova_twotier.client import rest
from nova_twotier.client.commands import drains
from tests.unit.api.network import FG
from tests.unit.api.test_pools import Cloud
from tests.unit.client.case import CommandCase

CAROL = "carol:ops:admin"


class TestDrain(CommandCase):
    def setUp(self):
        super().setUp()
        self.cloud = Cloud()
        for service in ("placement", "aggregates"):
            self.useFixture(fixtures.MockPatchObject(Site, service, self.cloud))
        self.cloud.held = {("a", FG): 2}
        self.waited = []
        self.useFixture(fixtures.MockPatchObject(drains.time, "sleep", self.sleep))

    def sleep(self, seconds):
        """A process ends while the command waits."""
        self.waited.append(seconds)
        self.cloud.held[("a", FG)] -= 1

    def drain(self, *words):
        shown = self.shown("host", "drain", "a", *words, by=CAROL)
        return {name: shown[name] for name in ("name", "state", "reason", "from", "until")}

    def test_drain_and_undrain(self):
        shown = self.drain("--reason", "new BIOS")
        began = datetime.fromisoformat(shown.pop("from")).timestamp()
        self.assertLess(time.time() - 60, began)
        self.assertEqual(
            {"name": "a", "state": "draining", "reason": "new BIOS", "until": None}, shown
        )
        rows = {row["Name"]: row for row in self.shown("host", "list", by=CAROL)}
        self.assertEqual(("draining", "new BIOS"), (rows["a"]["State"], rows["a"]["Reason"]))
        self.assertEqual((None, None), (rows["b"]["State"], rows["b"]["Until"]))
        self.assertEqual("draining", self.shown("host", "show", "a", by=CAROL)["state"])
        host = self.shown("host", "show", "a", by=CAROL)
        ended = {**host, "state": None, "reason": None, "from": None, "migrate": None}
        self.assertEqual(ended, self.shown("host", "undrain", "a", by=CAROL))
        self.assertEqual(ended, self.shown("host", "show", "a", by=CAROL))
        self.assertEqual([], self.waited)

    def test_tables_have_empty_cells(self):
        row = self.succeed("host", "list", by=CAROL).splitlines()[3]
        self.assertRegex(row, r"^\| a .*\| +\| +\| +\| +\|$")
        self.assertNotIn("None", row)
        self.assertIn("| until     |    ", self.succeed("host", "drain", "a", by=CAROL))
        # Programs get null, as they do of other services.
        [state, *_] = self.succeed("host", "list", "-f", "value", "-c", "Until", by=CAROL).split()
        self.assertEqual("None", state)

    def test_undrain_a_host_that_has_left(self):
        self.drain()
        self.useFixture(fixtures.MockPatchObject(rest.Api, "hosts", return_value=[]))
        shown = self.shown("host", "undrain", "a", by=CAROL)
        self.assertEqual(("a", None, None), (shown["name"], shown["slots"], shown["state"]))

    def window(self, *words):
        """When a drain begins, in seconds from now on, and how long it takes."""
        shown = self.drain(*words)
        since, until = (datetime.fromisoformat(shown[name]) for name in ("from", "until"))
        return round((since.timestamp() - time.time()) / 60), (until - since).total_seconds()

    def test_windows(self):
        self.assertEqual((120, 14400.0), self.window("--at", "2h", "--for", "4h"))
        self.assertEqual("planned", self.shown("host", "show", "a", by=CAROL)["state"])
        _begin, duration = self.window("--for", "90m")
        self.assertAlmostEqual(5400.0, duration, delta=60)
        shown = self.drain("--at", "2096-01-31T12:00:00+01:00", "--for", "1d")
        self.assertEqual("2096-01-31T11:00:00", shown["from"][:19])
        self.assertEqual("2096-02-01T11:00:00", shown["until"][:19])

    def test_a_window_is_moved(self):
        self.assertEqual((120, 14400.0), self.window("--at", "2h", "--for", "4h"))
        self.assertEqual((180, 14400.0), self.window("--at", "now+3h"))
        self.assertEqual((180, 3600.0), self.window("--for", "1h"))
        self.assertEqual((180, 3600.0), self.window("--reason", "new BIOS"))
        self.assertEqual((0, 3600.0), self.window("--at", "now"))
        shown = self.drain("--no-end", "--at", "2096-01-31T12:00:00Z")
        self.assertEqual(
            ("2096-01-31T12:00:00", None, "new BIOS"),
            (shown["from"][:19], shown["until"], shown["reason"]),
        )
        self.assertIsNone(self.drain("--at", "2h")["until"])

    def test_what_is_not_given_stays(self):
        self.drain("--reason", "new BIOS", "--at", "2h", "--for", "4h", "--migrate")
        planned = self.shown("host", "show", "a", by=CAROL)
        self.assertEqual(("planned", True), (planned["state"], planned["migrate"]))
        for words, changes in (
            ((), {}),
            (("--reason", "disk"), {"reason": "disk"}),
            (("--no-migrate",), {"migrate": False}),
            (("--no-reason",), {"reason": None}),
            (("--no-end",), {"until": None}),
        ):
            planned |= changes
            self.assertEqual(planned, self.shown("host", "drain", "a", *words, by=CAROL))

    def test_times_are_those_of_job_create(self):
        for words in (("--at", "12:00"), ("--at", "now+2h"), ("--at", "2096-01-31T12:00")):
            self.assertEqual("planned", self.drain(*words)["state"], words)

    def test_ends_of_the_calendar(self):
        long = ("--for", "99999999999d")
        code, _out, said = self.openstack("host", "drain", "a", *long, by=CAROL)
        self.assertEqual(2, code)
        self.assertIn("argument --for: '99999999999d' is too long: give 1000000000 seconds", said)
        late = ("--at", "9999-12-31T12:00Z", "--for", "2d")
        said = self.refused("host", "drain", "a", *late, by=CAROL)
        self.assertEqual("--at, --for: this maintenance ends after the year 9999", said)

    def test_wait(self):
        self.assertEqual("drained", self.drain("--wait")["state"])
        self.assertEqual([drains.INTERVAL] * 2, self.waited)
        # What it waits for is said once.
        self.assertEqual(
            "a: waiting until no process holds a slot there any more\n", self.stderr.getvalue()
        )

    def test_wait_for_a_planned_drain(self):
        def end(_seconds):
            self.api_of(CAROL).undrain("a")

        self.useFixture(fixtures.MockPatchObject(drains.time, "sleep", end))
        self.drain("--wait", "--at", "2096-01-31T12:00:00Z")
        self.assertIn("the drain begins at 2096-01-31T12:00:00Z", self.stderr.getvalue())

    def test_wait_for_an_api_that_does_not_answer_for_a_while(self):
        answers = iter([rest.ApiError("gone", 503)])
        original = rest.Api.hosts

        def hosts(api):
            for error in answers:
                raise error
            return original(api)

        self.useFixture(fixtures.MockPatchObject(rest.Api, "hosts", hosts))
        self.assertEqual("drained", self.drain("--wait")["state"])

    def test_wait_for_what_another_operator_ends(self):
        def end(_seconds):
            self.api_of(CAROL).undrain("a")

        self.useFixture(fixtures.MockPatchObject(drains.time, "sleep", end))
        self.assertIsNone(self.drain("--wait")["state"])

    def test_migrate(self):
        self.drain("--migrate")
        self.assertTrue(self.api_of(CAROL).hosts()[0]["drain"]["migrate"])

    def test_mistakes(self):
        for words, said in (
            (("--at", "noon"), "'noon' is not a time: give a time such as 2026-01-31T12:00"),
            (("--for", "soon"), "'soon' is not a time"),
        ):
            code, _out, error = self.openstack("host", "drain", "a", *words, by=CAROL)
            self.assertEqual(2, code)
            self.assertIn(said, error)
        for words, said in (
            (("--for", "0"), "--for: give a duration of more than 0, such as 4h"),
            (
                ("--at", "2026-01-31T12:00:00+01:00", "--for", "4h"),
                "--at, --for: this maintenance was over at 2026-01-31T15:00:00Z, and it is ",
            ),
        ):
            self.assertIn(said, self.refused("host", "drain", "a", *words, by=CAROL))
        self.assertIn("there is no host", self.refused("host", "drain", "z", by=CAROL))
        self.assertIn("is not drained", self.refused("host", "undrain", "a", by=CAROL))
        self.assertIn("(HTTP 403)", self.refused("host", "drain", "a"))
