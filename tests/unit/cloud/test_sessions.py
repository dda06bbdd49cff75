"""Sessions with the cloud's services."""

import pathlib
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fixtures
import requests_mock
import testtools
from keystoneauth1 import exceptions as ksa_exc
from keystoneauth1 import fixture as keystone_fixture
from keystoneauth1.adapter import Adapter

from nova_twotier import conf as config
from nova_twotier.cloud import sessions
from nova_twotier.cloud.nova import Cloud
from nova_twotier.cloud.sessions import Tally, session_for

URL = "http://nova.test"
CONF = f"""
[nova]
auth_type = none
endpoint_override = {URL}
"""
KEYSTONE = "http://keystone.test/v3"
PASSWORD = f"""
[nova]
auth_type = password
auth_url = {KEYSTONE}
username = twotier
password = wrong
project_name = service
user_domain_name = Default
project_domain_name = Default
"""


class SessionCase(testtools.TestCase):
    def session(self, text=CONF):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "nova-twotier.conf")
        path.write_text(text)
        return session_for(config.load(["--config-file", str(path)], "test"), "nova")


class TestClock(SessionCase):
    def test_no_request_waits_for_a_clock_that_was_set_back(self):
        session, options = self.session()
        adapter = Adapter(session, **options)
        waits = []
        self.useFixture(fixtures.MonkeyPatch("time.sleep", waits.append))
        self.useFixture(fixtures.MonkeyPatch("time.time", lambda: 1.0))
        with requests_mock.Mocker() as http:
            http.get(URL, json={})
            self.assertEqual(200, adapter.get("/").status_code)
        self.assertEqual([], waits)


class TestConnections(SessionCase):
    def test_more_threads_than_a_pool_has_by_default(self):
        """All connections are kept for the next requests of as many threads."""
        threads = 25
        together = threading.Barrier(threads, timeout=60)
        clients = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                together.wait()
                clients.append(self.client_address)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                """Nobody reads it."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        session, _options = self.session()
        url = f"http://127.0.0.1:{server.server_port}"
        with ThreadPoolExecutor(threads) as pool:
            for _round in range(2):
                list(pool.map(session.get, [url] * threads))
        self.assertEqual((2 * threads, threads), (len(clients), len(set(clients))))


class TestTally(SessionCase):
    def setUp(self):
        super().setUp()
        self.tally = Tally()
        self.useFixture(fixtures.MockPatchObject(sessions, "TALLY", self.tally))

    def test_requests_by_service_and_status(self):
        session, options = self.session()
        nova = Adapter(session, service_type="compute", **options)
        unknown = Adapter(session, service_type="job 17 of alice", **options)
        with requests_mock.Mocker() as http:
            http.get(URL, json={})
            nova.get("/")
            nova.get("/")
            unknown.get("/")
            http.get(URL, status_code=503)
            nova.get("/", raise_exc=False)
            self.assertRaises(ksa_exc.ServiceUnavailable, nova.get, "/")
            http.get(URL, exc=ConnectionError)
            self.assertRaises(ConnectionError, nova.get, "/")
        self.assertEqual(
            {
                ("compute", "200"): 2,
                ("compute", "503"): 2,
                ("compute", "none"): 1,
                ("other", "200"): 1,
            },
            self.tally.counts(),
        )

    def test_a_refused_password(self):
        session, _options = self.session(PASSWORD)
        with requests_mock.Mocker() as http:
            http.get(
                KEYSTONE,
                json={
                    "version": {
                        "id": "v3.14",
                        "links": [{"rel": "self", "href": KEYSTONE}],
                        "status": "stable",
                    }
                },
            )
            http.post(f"{KEYSTONE}/auth/tokens", status_code=401)
            self.assertRaises(ksa_exc.Unauthorized, session.get_token)
        self.assertEqual({("other", "200"): 1, ("identity", "401"): 1}, self.tally.counts())


class TestEndpoints(SessionCase):
    """Where requests go that a group of the configuration describes by its adapter's options."""

    def urls(self, *lines):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "nova-twotier.conf")
        placement = PASSWORD.replace("[nova]", "[placement]")
        more = "\n".join(lines)
        options = "[manager]\nflavor = f\nimage = i\n"
        path.write_text(f"{options}{PASSWORD}{more}\n{placement}{more}\n")
        conf = config.load(["--config-file", str(path)], "test")
        token = keystone_fixture.V3Token(project_id="p")
        for kind in ("compute", "placement"):
            where = {each: f"http://{each}.test/{kind}" for each in ("public", "internal")}
            token.add_service(kind).add_standard_endpoints(region="one", **where)
        with requests_mock.Mocker() as http:
            http.get(KEYSTONE, json={"version": keystone_fixture.V3Discovery(KEYSTONE)})
            http.post(f"{KEYSTONE}/auth/tokens", json=token, headers={"X-Subject-Token": "t"})
            http.get(re.compile("//(public|internal).test/"), json={"servers": [], "flavors": []})
            sessions.placement_for(conf).get("/resource_providers")
            cloud = Cloud(conf)
            cloud.nova.client.get("/servers")
            cloud._reader.flavors()
            found = [each.url for each in http.request_history if "keystone" not in each.url]
        return {url.split(".test")[0] for url in found}

    def test_the_public_ones_by_default(self):
        self.assertEqual({"http://public"}, self.urls())

    def test_those_that_are_asked_for(self):
        self.assertEqual({"http://internal"}, self.urls("valid_interfaces = internal"))
        self.assertEqual({"http://internal"}, self.urls("valid_interfaces = admin,internal"))

    def test_options_that_exclude_each_other(self):
        both = "interface = public\nvalid_interfaces = internal\n"
        error = self.assertRaises(config.ConfigError, self.session, f"{PASSWORD}{both}")
        self.assertIn("[nova]", str(error))
