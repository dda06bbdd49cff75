"""Sessions with the cloud's services."""

import pathlib

import fixtures
import requests_mock
import testtools
from keystoneauth1.adapter import Adapter

from nova_twotier import conf as config
from nova_twotier.cloud.sessions import session_for

URL = "http://nova.test"
CONF = f"""
[nova]
auth_type = none
endpoint_override = {URL}
"""


class TestClock(testtools.TestCase):
    def test_no_request_waits_for_a_clock_that_was_set_back(self):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "nova-twotier.conf")
        path.write_text(CONF)
        session, options = session_for(config.load(["--config-file", str(path)], "test"), "nova")
        adapter = Adapter(session, **options)
        waits = []
        self.useFixture(fixtures.MonkeyPatch("time.sleep", waits.append))
        self.useFixture(fixtures.MonkeyPatch("time.time", lambda: 1.0))
        with requests_mock.Mocker() as http:
            http.get(URL, json={})
            self.assertEqual(200, adapter.get("/").status_code)
        self.assertEqual([], waits)
