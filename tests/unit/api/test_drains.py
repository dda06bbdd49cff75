"""Operators drain hosts through the API."""

import time
from datetime import UTC, datetime

import fixtures

from nova_twotier.api.site import Site
from nova_twotier.db.models import Drain
from nova_twotier.db.readers import rfc3339
from tests.unit.api.case import ApiCase
from tests.unit.api.network import BG, FG
from tests.unit.api.test_pools import Cloud

CAROL = "carol:ops:admin"
HOUR = 3600.0


def text(seconds):
    return datetime.fromtimestamp(seconds, UTC).isoformat()


class DrainCase(ApiCase):
    def setUp(self):
        super().setUp()
        self.cloud = Cloud()
        for service in ("placement", "aggregates"):
            self.useFixture(fixtures.MockPatchObject(Site, service, self.cloud))

    def drain(self, by=CAROL, host="a", **body):
        return self.ask("POST", "/v1/hosts/drain", by, json={"host": host, **body})

    def undrain(self, host="a"):
        return self.ask("POST", "/v1/hosts/undrain", CAROL, json={"host": host})

    def shown(self, host="a"):
        found = self.answered(200, self.get("/v1/hosts", CAROL))["hosts"]
        return next(each["drain"] for each in found if each["name"] == host)


class TestDrain(DrainCase):
    def test_now_and_until_further_notice(self):
        answer = self.answered(200, self.drain(reason="new BIOS", migrate=True))
        self.assertEqual("a", answer["name"])
        shown = self.shown()
        self.assertEqual(answer["drain"], shown)
        began = datetime.fromisoformat(shown.pop("starts_at")).timestamp()
        self.assertLess(time.time() - 60, began)
        expected = {"state": "drained", "reason": "new BIOS", "ends_at": None, "migrate": True}
        self.assertEqual(expected, shown)
        self.assertIsNone(self.shown("b"))
        self.assertEqual({"name": "a", "drain": None}, self.answered(200, self.undrain()))
        self.assertIsNone(self.shown())

    def test_while_processes_are_left(self):
        self.answered(200, self.drain())
        for tier in (FG, BG):
            self.cloud.held = {("a", tier): 1}
            self.assertEqual("draining", self.shown()["state"])
        self.cloud.held = {("b", FG): 1}
        self.assertEqual("drained", self.shown()["state"])

    def test_a_window(self):
        now = time.time()
        window = {"starts_at": text(now + HOUR), "ends_at": text(now + 2 * HOUR)}
        shown = self.answered(200, self.drain(**window))["drain"]
        self.assertEqual("planned", shown["state"])
        self.assertEqual(window["starts_at"][:19], shown["starts_at"][:19])
        self.assertEqual(window["ends_at"][:19], shown["ends_at"][:19])

    def test_a_window_that_is_over(self):
        now = time.time()
        with self.store.transaction() as session:
            old = Drain(host="a", since=now - HOUR, until=now - 1, reason="", migrate=False)
            session.add(old)
        self.assertIsNone(self.shown())
        [detail] = self.refused(409, "host.not_drained", self.undrain())
        self.assertEqual("host 'a' is not drained; see openstack twotier host list", detail)

    def test_what_is_not_given_stays(self):
        now = time.time()
        begin, end, late = (rfc3339(now + hours * HOUR) for hours in (1, 2, 3))
        self.drain(reason="fan", starts_at=begin, ends_at=end, migrate=True)
        first = self.shown()
        for body, changes in (
            ({}, {}),
            ({"reason": "disk"}, {"reason": "disk"}),
            ({"ends_at": late}, {"ends_at": late}),
            ({"starts_at": end}, {"starts_at": end}),
            ({"migrate": False}, {"migrate": False}),
            ({"reason": ""}, {"reason": ""}),
            ({"ends_at": None}, {"ends_at": None}),
        ):
            answer = self.answered(200, self.drain(**body))["drain"]
            first |= changes
            self.assertEqual((first, first), (answer, self.shown()))
        self.drain(starts_at=text(now))
        self.assertEqual("drained", self.shown()["state"])

    def test_a_beginning_after_the_end_that_there_was(self):
        now = time.time()
        self.drain(ends_at=text(now + HOUR))
        before = self.shown()
        [detail] = self.refused(400, "request.invalid", self.drain(starts_at=text(now + 2 * HOUR)))
        self.assertIn("ends_at: give a time after starts_at", detail)
        self.assertEqual(before, self.shown())

    def test_mistakes(self):
        now = time.time()
        late, early = text(now + HOUR), text(now + HOUR / 2)
        order = "ends_at: give a time after starts_at, and not one that is over, or null for none"
        for body, said in (
            ({"starts_at": late, "ends_at": early}, order),
            ({"ends_at": text(now - HOUR)}, order),
            ({"starts_at": text(now - 2 * HOUR), "ends_at": text(now - HOUR)}, order),
            ({"starts_at": "tomorrow"}, "starts_at: give a time with its zone"),
            # It is in the year 10000 in UTC, which could not be shown.
            (
                {"starts_at": "9999-12-31T23:59:59-14:00"},
                "starts_at: give a time from 1970 to 9999",
            ),
            ({"ends_at": "9999-12-31T23:59:59-14:00"}, "ends_at: give a time from 1970 to 9999"),
            ({"reason": "a\nb"}, "reason: give a text without control characters"),
            ({"reason": "a\n"}, "reason: give a text without control characters"),
            ({"reason": "x" * 201}, "reason: give at most 200 characters"),
            ({"migrate": "yes"}, "migrate: give true or false"),
            ({"window": 1}, "'window' is not known"),
        ):
            [detail] = self.refused(400, "request.invalid", self.drain(**body))
            self.assertIn(said, detail)
        self.assertIsNone(self.shown())

    def test_a_host_that_there_is_not(self):
        for answer in (self.drain(host="z"), self.undrain("z")):
            [detail] = self.refused(404, "host.not_found", answer)
            self.assertEqual(
                "there is no host 'z' with slots; see openstack twotier host list", detail
            )

    def test_a_host_that_has_left_the_ledger(self):
        self.drain()
        self.cloud.by_name = {}
        self.answered(200, self.undrain())

    def test_only_operators_are_told(self):
        self.drain(reason="new BIOS")
        self.undrain()
        self.undrain()
        self.assertEqual([], self.get("/v1/events").json["events"])
        events = self.get("/v1/events?all_projects=true", CAROL).json["events"]
        self.assertEqual(
            [("host drain", "a: new BIOS"), ("host undrain", "a")],
            [(event["kind"], event["detail"]) for event in events],
        )
        self.assertIn("Host a is to be drained: user carol", self.logged.output)
        self.assertIn("Host a is no longer drained: user carol", self.logged.output)

    def test_pools_have_less_room(self):
        self.drain(starts_at=text(time.time() + HOUR))
        self.assertEqual((3, 10, 14), self.room())
        self.drain(starts_at=text(time.time()))
        self.assertEqual((2, 6, 10), self.room())

    def room(self):
        # The application is made anew: the last one keeps the sums.
        self.application = self.make()[1]
        [pool] = self.answered(200, self.get("/v1/pools"))["pools"]
        free = (pool[tier]["free"] for tier in ("foreground", "background"))
        return pool["hosts"]["available"], *free
