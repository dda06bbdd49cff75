"""What load balancers and monitoring read from `/healthcheck`."""

import threading
import time
import types
from unittest import mock

import fixtures
from oslo_db.exception import DBConnectionError

from nova_twotier.db.models import Leader
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
        said = "pool default: no manager since 1970-01-01T06:28:00Z"
        self.assertEqual(said, self.health().text)
        answer = self.health(headers={"Accept": "application/json"})
        self.assertEqual([said], answer.json["reasons"])
        self.answered(200, self.get("/v1/queue"))

    def test_a_manager_that_hangs_shows(self):
        with self.store.transaction() as session:
            leader = session.get(Leader, "gpu")
            leader.since, leader.polled_at = 23_000.0, 23_280.0
        said = "pool gpu: the manager has not finished a poll since 1970-01-01T06:28:00Z"
        self.assertIn(said, self.health().text)

    def test_without_a_database_it_is_unavailable(self):
        with mock.patch.object(self.store, "reading", side_effect=DBConnectionError()):
            self.unavailable()
        self.health()

    def test_a_database_that_hangs_is_not_waited_for(self):
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.api.health.TIMEOUT", 0.2))
        goes_on, asked = threading.Event(), []
        reading = self.store.reading

        def hang():
            asked.append(1)
            goes_on.wait(60)
            return reading()

        with mock.patch.object(self.store, "reading", hang):
            try:
                for _check in range(3):
                    self.unavailable()
            finally:
                goes_on.set()
        self.assertEqual([1], asked)

    def test_one_that_has_hung_for_long_is_not_waited_for_again(self):
        goes_on = threading.Event()
        now = 0.0
        clock = types.SimpleNamespace(monotonic=lambda: now)
        self.useFixture(fixtures.MonkeyPatch("nova_twotier.api.health.time", clock))
        with mock.patch.object(self.store, "reading", lambda: goes_on.wait(300)):
            try:
                with mock.patch("nova_twotier.api.health.TIMEOUT", 0.2):
                    self.unavailable()
                now, began = 100.0, time.monotonic()
                with mock.patch("nova_twotier.api.health.TIMEOUT", 60.0):
                    self.unavailable()
                self.assertLess(time.monotonic() - began, 60.0)
            finally:
                goes_on.set()

    def unavailable(self):
        answer = self.get("/healthcheck", None)
        self.assertEqual((503, "the database does not answer"), (answer.status_code, answer.text))
