"""How often a project may ask."""

from unittest import mock

from limits.errors import StorageError
from limits.storage import MemoryStorage

from nova_twotier.conf import ConfigError
from tests.unit.api.case import ApiCase, KeystoneCase


class TestRateLimit(ApiCase):
    OPTIONS = "rate_limit = 5/hour\nmetrics = true"

    def spend(self, by="alice:demo"):
        for _each in range(5):
            self.answered(200, self.get("/v1/jobs", by))

    def test_one_too_many(self):
        self.spend()
        answer = self.get("/v1/jobs")
        [detail] = self.refused(429, "rate.exceeded", answer)
        seconds = int(answer.headers["retry-after"])
        self.assertTrue(1 <= seconds <= 3600, seconds)
        self.assertIn(f"ask again in {seconds} s", detail)

    def test_all_of_a_project_count_whoever_asks_and_whatever(self):
        self.spend("alice:demo")
        self.refused(429, "rate.exceeded", self.get("/v1/queue", "bob:demo:reader"))
        answer = self.ask("POST", "/v1/jobs", json={"size": 1})
        self.refused(429, "rate.exceeded", answer)
        self.assertEqual([], self.store.jobs())

    def test_other_projects_do_not_notice(self):
        self.spend("alice:demo")
        self.answered(200, self.get("/v1/jobs", "alice:other"))

    def test_refused_requests_count(self):
        for _each in range(5):
            self.refused(403, "request.forbidden", self.get("/v1/topology"))
        self.refused(429, "rate.exceeded", self.get("/v1/topology"))

    def test_what_needs_no_token_does_not_count(self):
        for path in ("/healthcheck", "/metrics", "/v1", "/v1/openapi.json"):
            for _each in range(6):
                self.assertEqual(200, self.get(path).status_code)
        self.answered(200, self.get("/v1/jobs"))

    def test_trouble_with_the_counting_keeps_nobody_out(self):
        broken = mock.Mock(side_effect=StorageError(ConnectionError("memcached")))
        with mock.patch.object(MemoryStorage, "acquire_sliding_window_entry", broken):
            for _each in range(6):
                self.answered(200, self.get("/v1/jobs"))
        self.assertIn("Could not count a request: memcached", self.logged.output)


class TestSeveral(ApiCase):
    OPTIONS = "rate_limit = 100/second; 2/day"

    def test_each_holds(self):
        self.get("/v1/jobs")
        self.get("/v1/jobs")
        self.refused(429, "rate.exceeded", self.get("/v1/jobs"))


class TestOff(ApiCase):
    OPTIONS = "rate_limit ="

    def test_as_many_as_one_likes(self):
        for _each in range(50):
            self.answered(200, self.get("/v1/jobs"))


class TestWithKeystone(KeystoneCase):
    OPTIONS = KeystoneCase.OPTIONS.replace(
        "[keystone_authtoken]", "rate_limit = 2/hour\n[keystone_authtoken]"
    )

    def test_who_is_not_known_counts_for_nobody(self):
        headers = {"X-Project-Id": "demo", "X-Identity-Status": "Confirmed"}
        for token in (None, "nonsense", "nonsense"):
            self.refused(401, "request.unauthorized", self.get("/v1/jobs", token, headers=headers))
        member = self.token_for("member", "reader", project_id="demo")
        self.answered(200, self.get("/v1/jobs", member))

    def test_the_whole_system_counts_by_user(self):
        token = self.token_for("reader", system=True)
        for _each in range(2):
            self.answered(200, self.get("/v1/jobs?all_projects=true", token))
        self.refused(429, "rate.exceeded", self.get("/v1/jobs?all_projects=true", token))


class TestMistakes(ApiCase):
    def make(self):
        return None, None

    def refused_options(self, options):
        self.OPTIONS = options
        return str(self.assertRaises(ConfigError, super().make))

    def test_they_are_said_at_the_start(self):
        self.assertIn("[api]rate_limit is 'often'", self.refused_options("rate_limit = often"))
        for address in ("nowhere://", "nonsense"):
            said = self.refused_options(f"rate_limit_storage = {address}")
            self.assertIn("[api]rate_limit_storage: ", said)
