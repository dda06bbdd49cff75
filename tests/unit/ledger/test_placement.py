"""The client's errors: each says what Placement meant, and which request it was."""

import testtools
from keystoneauth1 import session, token_endpoint
from requests import exceptions as requests_exc
from requests_mock.contrib import fixture as requests_fixture

from nova_twotier.ledger import placement, providers
from nova_twotier.ledger.names import MICROVERSION

URL = "http://placement"


def refusal(status, detail="no", code="placement.undefined_code"):
    return {"errors": [{"status": status, "detail": detail, "code": code}]}


class TestPlacement(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.requests = self.useFixture(requests_fixture.Fixture())
        auth = token_endpoint.Token(URL, "token")
        self.placement = placement.Placement(session.Session(auth=auth))

    def refused(self, kind, status, **answer):
        self.requests.post(f"{URL}/allocations", status_code=status, **answer)
        error = self.assertRaises(kind, self.placement.post, "/allocations", {})
        self.assertIs(kind, type(error))
        self.assertEqual(status, error.status)
        self.assertIn(f"POST /allocations: {status}", str(error))
        return str(error)

    def test_every_method(self):
        for method in ("get", "put", "post", "delete"):
            self.requests.register_uri(method.upper(), f"{URL}/x", json={"did": method})
            arguments = [{"body": 1}] if method in ("put", "post") else []
            self.assertEqual({"did": method}, getattr(self.placement, method)("/x", *arguments))
            sent = self.requests.last_request
            self.assertEqual(f"placement {MICROVERSION}", sent.headers["OpenStack-API-Version"])
            self.assertEqual("token", sent.headers["X-Auth-Token"])
            if arguments:
                self.assertEqual({"body": 1}, sent.json())

    def test_empty_answer(self):
        self.requests.put(f"{URL}/traits/CUSTOM_X", status_code=204)
        self.assertEqual({}, self.placement.put("/traits/CUSTOM_X"))
        self.assertIsNone(self.requests.last_request.body)

    def test_a_proxy_answers_in_its_place(self):
        for text in ("<html>maintenance</html>", "", "null", "[]"):
            self.requests.get(f"{URL}/x", text=text)
            error = self.assertRaises(placement.PlacementUnavailable, self.placement.get, "/x")
            self.assertIn("answered GET /x without JSON", str(error))

    def test_an_answer_of_another_kind(self):
        """Reading a missing field of an answer raises PlacementUnavailable."""
        for text in ("{}", '{"message": "back soon"}'):
            self.requests.get(f"{URL}/resource_providers", text=text)
            error = self.assertRaises(
                placement.PlacementUnavailable, providers.listed, self.placement
            )
            self.assertIn("GET /resource_providers", str(error))
            self.assertIn("without resource_providers; is", str(error))
        self.requests.put(f"{URL}/x", text="")
        answer = self.placement.put("/x")
        self.assertIsNone(answer.get("generation"))
        self.assertRaises(placement.PlacementUnavailable, lambda: answer["generation"])

    def test_fields_of_another_kind(self):
        """A field, or what is in it, is of another type than Placement's, or lacks something."""
        host = {"uuid": "u", "name": "a", "generation": 1, "parent_provider_uuid": None}
        inventory = {"total": 8, "reserved": 0, "allocation_ratio": 1.0}
        summary = {"resources": {}, "traits": [], "root_provider_uuid": "u"}
        for field, right, *wrong in (
            ("resource_providers", [host], {}, None, "no", [[]], ["u"], [{}]),
            ("resource_providers", [], [host, host | {"name": None}], [host | {"generation": "1"}]),
            ("inventories", {"VCPU": inventory}, [], None, 1, {"VCPU": []}, {"VCPU": None}),
            ("inventories", {}, {"VCPU": {}}, {"VCPU": inventory | {"total": "8"}}),
            ("allocations", {"v": {"resources": {"VCPU": 1}}}, [], {"v": []}, {"v": {}}),
            ("allocations", {}, {"v": {"resources": []}}, {"v": {"resources": {"VCPU": None}}}),
            ("provider_summaries", {"u": summary}, [], {"u": []}, {"u": {}}),
            ("provider_summaries", {}, {"u": summary | {"resources": {"VCPU": 1}}}),
            ("traits", ["CUSTOM_X"], {}, None, [1]),
            ("usages", {"VCPU": 1}, [], {"VCPU": "1"}, {"VCPU": {}}),
            ("resource_provider_generation", 1, "1", None, []),
            ("consumer_generation", None, "1", []),
        ):
            self.requests.get(f"{URL}/x", json={field: right})
            self.assertEqual(right, self.placement.get("/x")[field])
            for each in wrong:
                self.requests.get(f"{URL}/x", json={field: each})
                error = self.assertRaises(placement.PlacementUnavailable, self.placement.get, "/x")
                self.assertIn(f"answered GET /x without {field}; is [placement]", str(error))

    def test_not_found(self):
        self.refused(placement.NotFound, 404, json=refusal(404))

    def test_stale_generation(self):
        stale = refusal(409, code="placement.concurrent_update")
        self.refused(placement.StaleGeneration, 409, json=stale)

    def test_in_use(self):
        for kind in ("inventory", "resource_provider"):
            used = refusal(409, code=f"placement.{kind}.inuse")
            self.refused(placement.InUse, 409, json=used)

    def test_conflict(self):
        message = self.refused(
            placement.Conflict, 409, json=refusal(409, "no\n  room", "placement.undefined_code")
        )
        self.assertIn("409 no room", message)

    def test_other_refusal(self):
        self.refused(placement.PlacementError, 400, json=refusal(400))

    def test_answer_that_is_no_json(self):
        message = self.refused(placement.PlacementError, 502, text="<h1>Bad Gateway</h1>")
        self.assertIn("Bad Gateway", message)

    def test_answer_without_errors(self):
        strange = {"errors": ["busy"]}, {"errors": [{"detail": None}]}
        for answer in ([], {}, {"errors": []}, {"errors": None}, *strange):
            self.refused(placement.PlacementError, 500, json=answer)

    def test_nobody_answers(self):
        for trouble in (requests_exc.ConnectionError, requests_exc.Timeout):
            self.requests.get(f"{URL}/x", exc=trouble)
            error = self.assertRaises(placement.PlacementUnavailable, self.placement.get, "/x")
            self.assertEqual(0, error.status)
