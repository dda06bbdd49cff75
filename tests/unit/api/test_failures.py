"""What goes wrong on our side: one format, no secrets, no stack traces; the log has the rest."""

import unittest.mock

import sqlalchemy
from requests_mock.contrib import fixture as requests_mock_fixture
from sqlalchemy.exc import OperationalError

from nova_twotier.api import queue
from nova_twotier.db.models import Event, Job
from tests.unit.api.case import OTHER, ApiCase


class TestFailures(ApiCase):
    def test_our_own_mistakes(self):
        mistake = ZeroDivisionError("a secret of the code")
        with unittest.mock.patch.object(queue.queries, "by_state", side_effect=mistake):
            answer = self.get("/v1/queue")
        [detail] = self.refused(500, "internal", answer)
        self.assertEqual("the API failed on this request; tell the operator its request id", detail)
        for hidden in ("secret", "ZeroDivisionError", "Traceback", ".py"):
            self.assertNotIn(hidden, answer.text)
        self.assertIn("a secret of the code", self.logged.output)
        self.assertIn("Traceback", self.logged.output)

    def test_a_mistake_in_the_middleware(self):
        def broken(_environ, _start_response):
            raise ZeroDivisionError("a secret of the code")

        with unittest.mock.patch("nova_twotier.api.app.Identified", return_value=broken):
            _store, self.application = self.make()
        answer = self.get("/v1/queue")
        self.refused(500, "internal", answer)
        self.assertNotIn("secret", answer.text)

    def test_the_database_is_gone(self):
        with self.store.transaction() as session:
            session.execute(sqlalchemy.text("DROP TABLE event"))
            session.execute(sqlalchemy.text("DROP TABLE action"))
            session.execute(sqlalchemy.text("DROP TABLE job"))
        answer = self.get("/v1/jobs")
        [detail] = self.refused(503, "service.unavailable", answer)
        self.assertEqual("the database does not answer; try again later", detail)
        self.assertEqual("5", answer.headers["retry-after"])
        self.assertNotIn("SELECT", answer.text)
        self.assertIn("The database does not answer", self.logged.output)

    def test_what_the_database_says_is_not_logged_with_the_values(self):
        error = OperationalError("INSERT", {"name": "a tenant's secret"}, Exception("gone"))
        with unittest.mock.patch.object(self.store, "submit", side_effect=error):
            self.refused(503, "service.unavailable", self.ask("POST", "/v1/jobs", json={"size": 1}))
        self.assertNotIn("a tenant's secret", self.logged.output)

    def test_what_is_not_there(self):
        for path in ("/v2", "/v1/job", "/v1/jobs/x/y", "/metrics"):
            self.refused(404, "request.not_found", self.get(path))
        self.refused(404, "request.not_found", self.get("/metrics", None))
        for method, path in (("PUT", "/v1/jobs"), ("DELETE", "/v1/queue"), ("POST", "/v1/events")):
            answer = self.ask(method, path)
            self.refused(405, "request.method_not_allowed", answer)
            self.assertIn("GET", answer.headers["allow"])

    def test_a_job_that_is_purged_while_its_request_is_answered(self):
        job = self.submit()

        def purged(number, _held):
            with self.store.transaction() as session:
                session.execute(sqlalchemy.delete(Event).where(Event.job == number))
                session.execute(sqlalchemy.delete(Job).where(Job.number == number))
            return hold(self.store, number, True)

        hold = type(self.store).hold
        with unittest.mock.patch.object(self.store, "hold", side_effect=purged):
            answer = self.ask("POST", f"/v1/jobs/{job['uuid']}/hold")
        self.refused(404, "job.not_found", answer)

    def test_requests_have_ids(self):
        given = "req-11111111-2222-3333-4444-555555555555"
        answer = self.get("/v1/queue", headers={"X-Openstack-Request-Id": given})
        self.assertRegex(answer.headers["x-openstack-request-id"], "^req-[0-9a-f-]{36}$")
        self.assertNotEqual(given, answer.headers["x-openstack-request-id"])


class TestLedger(ApiCase):
    OPTIONS = """
[placement]
auth_type = none
endpoint_override = http://127.0.0.1:1
"""

    def test_placement_does_not_answer(self):
        answer = self.get("/v1/hosts", "admin")
        [detail] = self.refused(503, "service.unavailable", answer)
        self.assertEqual("the ledger in Placement does not answer; try again later", detail)
        self.assertIn("Placement does not answer", self.logged.output)

    def test_nobody_is_asked_for_those_who_may_not(self):
        self.refused(403, "request.forbidden", self.get("/v1/topology"))
        self.assertNotIn("Placement", self.logged.output)


class TestNewLedger(ApiCase):
    OPTIONS = "[placement]\nauth_type = none\nendpoint_override = http://placement.test"

    def test_placement_that_knows_nothing_of_ours_has_no_hosts(self):
        placement = self.useFixture(requests_mock_fixture.Fixture())
        compute = {
            "uuid": OTHER,
            "name": "node-1",
            "generation": 0,
            "parent_provider_uuid": None,
        }
        for found in ([], [compute]):
            placement.get(
                "http://placement.test/resource_providers", json={"resource_providers": found}
            )
            answer = self.answered(200, self.get("/v1/hosts", "admin"))
            self.assertEqual({"hosts": [], "links": []}, answer)


class TestNoLedger(ApiCase):
    def test_it_is_said_in_the_log(self):
        self.refused(503, "service.unavailable", self.get("/v1/hosts", "admin"))
        self.assertIn("[placement] has no auth_type", self.logged.output)
