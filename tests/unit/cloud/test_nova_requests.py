"""What the manager asks Nova to do with a job's servers, and how it takes a refusal."""

import base64

from keystoneauth1 import exceptions as ksa_exc

from nova_twotier.cloud.errors import CloudError, UnfitFlavor
from nova_twotier.cloud.nova import NOTICE_KEY, Server
from tests.unit.cloud.cloud_case import NOVA, CloudCase
from tests.unit.manager.builders import job

SLOT = {"resources:CUSTOM_TWOTIER_SLOT": "1"}
VM = Server("vm", "job", 0, "ACTIVE", None, "a")


class TestBoot(CloudCase):
    def setUp(self):
        super().setUp()
        flavors = [
            {"id": "1", "name": "slot", "extra_specs": SLOT},
            {"id": "2", "name": "large", "extra_specs": SLOT},
            {"id": "3", "name": "plain", "extra_specs": {}},
        ]
        self.http.get(f"{NOVA}/flavors/detail", json={"flavors": flavors})
        group = {"server_group": {"id": "g"}}
        self.groups = self.http.post(f"{NOVA}/os-server-groups", json=group)

    def boot(self, one, user_data=None):
        self.cloud.boot(one, user_data)
        return self.booted.last_request.json()

    def test_what_the_options_say(self):
        one = job(size=3)
        body = self.boot(one)
        server = body["server"]
        self.assertEqual(
            (f"tt-{one.number}", "1", self.conf.manager.image, "none", 3, 3),
            tuple(
                server[key]
                for key in ("name", "flavorRef", "imageRef", "networks", "min_count", "max_count")
            ),
        )
        self.assertEqual({"group": "g", "twotier:job": one.uuid}, body["os:scheduler_hints"])
        self.assertFalse({"user_data", "key_name"} & server.keys())

    def test_what_the_job_says(self):
        one = job(flavor="large", image="i", networks=["n1", "n2"], key_name="mine")
        encoded = base64.b64encode(b"#!/bin/sh\n").decode()
        server = self.boot(one, encoded)["server"]
        self.assertEqual(
            ("2", "i", "mine"), tuple(server[key] for key in ("flavorRef", "imageRef", "key_name"))
        )
        self.assertEqual([{"uuid": "n1"}, {"uuid": "n2"}], server["networks"])
        self.assertEqual(encoded, server["user_data"])

    def test_any_network(self):
        self.assertEqual("auto", self.boot(job(networks=["auto"]))["server"]["networks"])

    def test_a_flavor_by_its_id(self):
        self.assertEqual("2", self.boot(job(flavor="2"))["server"]["flavorRef"])

    def test_a_flavor_that_asks_for_no_slot(self):
        for name, text in (
            ("plain", "flavor plain does not have resources:CUSTOM_TWOTIER_SLOT=1"),
            ("huge", "there is no flavor huge"),
        ):
            error = self.assertRaises(UnfitFlavor, self.cloud.boot, job(flavor=name))
            self.assertIn(text, error.public_reason)
            self.assertFalse(error.passing)
        self.assertFalse(self.booted.called)
        self.assertFalse(self.groups.called)


class TestNotice(CloudCase):
    URL = f"{NOVA}/servers/vm/metadata"

    def test_said_and_taken_back(self):
        said = self.http.post(self.URL, json={"metadata": {}})
        self.cloud.notice(VM, "preempted at noon")
        self.assertEqual({"metadata": {NOTICE_KEY: "preempted at noon"}}, said.last_request.json())
        for status in (204, 404):
            taken = self.http.delete(f"{self.URL}/{NOTICE_KEY}", status_code=status)
            self.cloud.notice(VM, None)
            self.assertTrue(taken.called_once)


class TestRefusals(CloudCase):
    def refused(self, status, message="no"):
        answer = {"refusal": {"message": message, "code": status}}
        self.http.post(f"{NOVA}/servers/vm/action", status_code=status, json=answer)
        return self.assertRaises(CloudError, self.cloud.shelve, VM)

    def test_what_passes(self):
        for status, passes in (
            (400, False),
            (403, False),
            (404, False),
            (409, True),
            (429, True),
            (500, True),
            (503, True),
        ):
            error = self.refused(status)
            self.assertEqual((status, passes), (error.status, error.passing))

    def test_a_state_that_does_not(self):
        error = self.refused(409, "Cannot 'shelve' instance 1 while it is in vm_state rescued")
        self.assertFalse(error.passing)

    def test_no_answer(self):
        for error in (ksa_exc.ConnectFailure("refused"), ksa_exc.ConnectTimeout("slow")):
            self.http.post(f"{NOVA}/servers/vm/action", exc=error)
            found = self.assertRaises(CloudError, self.cloud.shelve, VM)
            self.assertEqual((0, True), (found.status, found.passing))

    def test_quota(self):
        text = "Quota exceeded for cores, ram: Requested 2, 64, but already used 9, 9 of 10, 70"
        for words, short in (
            (text, "cores, ram"),
            ("Quota exceeded, too many server groups.", "server groups"),
            ("Quota exceeded.", "quota"),
            ("Maximum number of ports exceeded", "ports"),
        ):
            self.assertEqual(short, self.refused(403, words).shortage)
        self.assertEqual("", self.refused(403, "Policy doesn't allow it").shortage)
        self.assertEqual("", self.refused(409, text).shortage)


class TestServers(CloudCase):
    def test_not_while_a_cell_is_down(self):
        """Nova shows little of its servers then: their jobs are not to be taken for broken."""
        servers = [{"id": "s", "status": "UNKNOWN", "tenant_id": "p", "created": "-", "links": []}]
        pages = [{"json": {"servers": page}} for page in (servers, [])]
        self.http.get(f"{NOVA}/servers/detail", pages)
        error = self.assertRaises(CloudError, self.cloud.servers)
        self.assertIn("a cell", str(error))
