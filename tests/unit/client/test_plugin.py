"""Where the plugin looks for the API."""

import argparse
import types

import fixtures
from keystoneauth1.noauth import NoAuth
from keystoneauth1.session import Session

from nova_twotier.client import plugin
from tests.unit.client.case import URL, ClientCase

ELSEWHERE = "http://elsewhere.test"


class TestEndpoint(ClientCase):
    def client_at(self, endpoint, **config):
        """A client of a user without a token, who has `endpoint` in OS_ENDPOINT."""
        session = Session(auth=NoAuth(endpoint))
        session.session.mount(URL, self.wire)
        return plugin.make_client(
            types.SimpleNamespace(
                session=session,
                region_name="RegionOne",
                interface="public",
                get_configuration=lambda: config,
            )
        )

    def test_the_first_that_is_given(self):
        for endpoint, config in (
            (URL, {}),
            (ELSEWHERE, {"twotier_endpoint_override": URL}),
            (ELSEWHERE, {"twotier_endpoint": URL, "twotier_endpoint_override": ELSEWHERE}),
            (URL, {"twotier_endpoint": ""}),
        ):
            self.assertEqual("active", self.client_at(endpoint, **config).queue()["mode"])

    def test_options(self):
        self.useFixture(fixtures.EnvironmentVariable("OS_TWOTIER_ENDPOINT", URL))
        parser = plugin.build_option_parser(argparse.ArgumentParser())
        self.assertEqual(URL, parser.parse_args([]).os_twotier_endpoint)
        parsed = parser.parse_args(["--os-twotier-endpoint", ELSEWHERE])
        self.assertEqual(ELSEWHERE, parsed.os_twotier_endpoint)
