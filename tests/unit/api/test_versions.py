"""Which version a client gets, and how clients find out."""

import requests_mock
from keystoneauth1 import discover, session

from tests.unit.api.case import ApiCase


class TestMicroversions(ApiCase):
    def ask_for(self, version, path="/v1/queue"):
        return self.get(path, headers={"OpenStack-API-Version": version})

    def test_answers_say_their_version(self):
        for asked, version in (
            ("twotier 1.0", "1.0"),
            ("twotier 1.1", "1.1"),
            ("twotier latest", "1.1"),
            ("TwoTier 1.0", "1.0"),
            ("compute 2.90", "1.0"),
            ("", "1.0"),
        ):
            for path, status in (("/v1/queue", 200), ("/v1/nothing", 404)):
                answer = self.ask_for(asked, path)
                self.assertEqual(status, answer.status_code, asked)
                self.assertEqual(f"twotier {version}", answer.headers["openstack-api-version"])
                self.assertIn("OpenStack-API-Version", answer.headers["vary"])

    def test_others_are_not_served(self):
        for version in ("1.2", "0.9", "2.0"):
            answer = self.ask_for(f"twotier {version}")
            [detail] = self.refused(406, "version.unsupported", answer)
            self.assertIn("ask for 1.0 to 1.1", detail)
            [error] = answer.json["errors"]
            self.assertEqual(("1.0", "1.1"), (error["min_version"], error["max_version"]))
            self.assertIn("OpenStack-API-Version", answer.headers["vary"])

    def test_nonsense(self):
        for version in ("twotier one", "twotier 1", "twotier 1.0.0"):
            self.refused(400, "version.invalid", self.ask_for(version))


class TestDiscovery(ApiCase):
    def test_by_keystoneauth(self):
        with requests_mock.Mocker() as mocked:
            for path in ("/", "/v1/"):
                mocked.get(f"http://localhost{path}", json=self.get(path, None).json)
                found = discover.Discover(session.Session(), f"http://localhost{path}")
                [version] = found.version_data()
                self.assertEqual("http://localhost/v1/", version["url"])
                self.assertEqual((1, 0), version["min_microversion"])
                self.assertEqual((1, 1), version["max_microversion"])

    def test_behind_a_proxy(self):
        headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "cloud.test"}
        self.assertIn("http://localhost", self.get("/", None, headers=headers).text)


class TestBehindProxy(ApiCase):
    OPTIONS = "[oslo_middleware]\nenable_proxy_headers_parsing = true"

    def test_links(self):
        headers = {
            "X-Forwarded-Proto": "https",
            "X-Forwarded-Host": "cloud.test",
            "X-Forwarded-Prefix": "/batch",
        }
        [version] = self.get("/", None, headers=headers).json["versions"]
        self.assertEqual("https://cloud.test/batch/v1/", version["links"][0]["href"])
