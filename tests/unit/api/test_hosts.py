"""The list of hosts, for operators and for tenants."""

import time
from urllib.parse import urlsplit

import fixtures

from nova_twotier.api.site import Site
from nova_twotier.db import drains
from tests.unit.api.case import ApiCase
from tests.unit.api.network import FG
from tests.unit.api.test_pools import SHAPES, Cloud

OPERATOR = "carol:ops:admin"
NEW = {"OpenStack-API-Version": "twotier 1.1"}


class HostCase(ApiCase):
    OPTIONS = "max_limit = 2"

    def setUp(self):
        super().setUp()
        self.cloud = Cloud()
        for service in ("placement", "aggregates"):
            self.useFixture(fixtures.MockPatchObject(Site, service, self.cloud))

    def hosts(self, query="", by="alice:demo", **headers):
        return self.answered(200, self.get(f"/v1/hosts?{query}", by, headers=headers))

    def paged(self, query, by):
        names = []
        while True:
            page = self.hosts(query, by, **NEW)
            names.append([host["name"] for host in page["hosts"]])
            if not page["links"]:
                return names
            query = urlsplit(page["links"][0]["href"]).query


class TestTenants(HostCase):
    def test_no_names_no_reasons_no_loads(self):
        drains.drain(self.store, "a", time.time(), reason="disk of rack 7")
        self.cloud.held = {("a", FG): 3}
        for headers in ({}, NEW):
            shown = self.answered(200, self.get("/v1/hosts?limit=2", headers=headers))
            self.assertEqual(2, len(shown["hosts"]))
        whole = self.hosts()["hosts"]
        self.assertEqual(len(SHAPES), len(whole))
        names = {host["name"] for host in whole}
        self.assertEqual({56}, set(map(len, names)))
        self.assertEqual(set(), names & set(SHAPES))
        self.assertNotIn("rack", str(whole))
        for host in whole:
            self.assertEqual({None}, {host[tier]["cpu"] for tier in ("foreground", "background")})
        [drained] = [host for host in whole if host["drain"]]
        self.assertEqual(
            ("draining", 3), (drained["drain"]["state"], drained["foreground"]["used"])
        )

    def test_the_same_ids_as_in_the_schedule(self):
        job = self.submit()
        self.hold_slot(job, 0, host="a", since=time.time())
        [stay] = self.answered(200, self.get("/v1/schedule"))["stays"]
        self.assertIn(stay["host"], {host["name"] for host in self.hosts()["hosts"]})

    def test_the_order_of_the_names_does_not_show(self):
        names = [host["name"] for host in self.hosts()["hosts"]]
        self.assertEqual(sorted(names), names)


class TestPages(HostCase):
    def test_by_name(self):
        self.assertEqual([["a", "b"], ["c", "g"], ["x"]], self.paged("", OPERATOR))
        self.assertEqual([["a"], ["b"], ["c"], ["g"], ["x"]], self.paged("limit=1", OPERATOR))
        ids = [host["name"] for host in self.hosts()["hosts"]]
        self.assertEqual([ids[:2], ids[2:4], ids[4:]], self.paged("", "alice:demo"))

    def test_earlier_versions_have_one_page(self):
        shown = self.hosts(by=OPERATOR)
        self.assertEqual(sorted(SHAPES), [host["name"] for host in shown["hosts"]])
        self.assertEqual([], shown["links"])

    def test_placement_is_not_asked_for_each_page(self):
        self.hosts(by=OPERATOR, **NEW)
        asked = len(self.cloud.asked)
        self.paged("limit=1", OPERATOR)
        self.assertEqual(asked, len(self.cloud.asked))
        # Who waits for a drain must not be told what was.
        self.hosts(by=OPERATOR)
        self.assertLess(asked, len(self.cloud.asked))
