"""What load balancers and monitoring read from `/healthcheck`."""

from unittest import mock

from oslo_db.exception import DBConnectionError

from tests.unit.api.case import ApiCase


class TestHealth(ApiCase):
    OPTIONS = "[manager]\npools = default, gpu"

    def setUp(self):
        super().setUp()
        self.begin("gpu")

    def health(self, **rest):
        answer = self.get("/healthcheck", None, **rest)
        self.assertEqual(200, answer.status_code)
        return answer

    def test_well(self):
        self.assertEqual("OK", self.health().text)

    def test_without_a_manager_the_api_still_serves(self):
        self.last_beat(23_280.0)
        said = "pool default: no manager since 1970-01-01 06:28 UTC"
        self.assertEqual(said, self.health().text)
        answer = self.health(headers={"Accept": "application/json"})
        self.assertEqual([said], answer.json["reasons"])
        self.answered(200, self.get("/v1/queue"))

    def test_it_needs_no_database(self):
        away = mock.patch.object(self.store, "reading", side_effect=DBConnectionError())
        with away:
            self.assertEqual("the database does not answer", self.health().text)
