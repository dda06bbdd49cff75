"""`openstack twotier job show` asks Nova for the addresses of the servers."""

import json
import types
from urllib.parse import parse_qs, urlsplit

import requests
import requests_mock
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from nova_twotier.client import addresses
from nova_twotier.db.states import JobState
from tests.unit.client.case import CommandCase

NOVA = "http://nova.test/v2.1"
SERVERS = f"{NOVA}/servers/detail"


class TestAddresses(CommandCase):
    def setUp(self):
        super().setUp()
        self.services = {"compute"}
        self.nova = requests_mock.Adapter()
        self.job = self.submit(name="solver", size=2)
        self.first = self.hold_slot(self.job, 0)
        self.second = self.hold_slot(self.job, 1)

    def clients(self, token):
        clients = super().clients(token)
        transport = requests.Session()
        transport.mount(NOVA, self.nova)
        clients.session = Session(auth=Token(NOVA, token), session=transport)
        clients.session.get_project_id = lambda: token.split(":")[1]
        clients.get_endpoint_for_service_type = lambda *_args, **_options: NOVA
        return clients

    def answer(self, **answer):
        self.nova.register_uri("GET", SERVERS, **answer)

    def asked(self):
        """The queries that Nova got."""
        urls = [urlsplit(request.url) for request in self.nova.request_history]
        return [{name: value for name, [value] in parse_qs(url.query).items()} for url in urls]

    def shown(self, *options, by="alice:demo"):
        return [
            server["addresses"]
            for server in super().shown("job", "show", "solver", by=by)["servers"]
        ]

    def test_those_of_its_servers(self):
        def has(server, *found):
            networks = {f"net{n}": [{"addr": addr}] for n, addr in enumerate(found)}
            return {"id": server, "addresses": networks}

        # One with a name like its servers' is the user's own.
        servers = [has(self.second, "10.0.0.6"), has("own", "10.0.0.7")]
        self.answer(json={"servers": [has(self.first, "10.0.0.5", "2001:db8::5"), *servers]})
        self.assertEqual([["10.0.0.5", "2001:db8::5"], ["10.0.0.6"]], self.shown())
        [query] = self.asked()
        self.assertEqual("^tt-1-", query["name"])
        self.assertNotIn("all_tenants", query)
        table = self.succeed("job", "show", "solver")
        self.assertIn(f"| tt-1-1: fg, 10.0.0.5, 2001:db8::5, {self.first}", table)

    def test_of_another_project(self):
        self.answer(json={"servers": []})
        job = self.succeed("job", "show", self.job["uuid"], "-f", "json", by="carol:ops:admin")
        self.assertEqual(
            [None, None], [server["addresses"] for server in json.loads(job)["servers"]]
        )
        self.assertEqual(["1"], [query["all_tenants"] for query in self.asked()])

    def test_nova_does_not_answer(self):
        for answer, expected in (
            (
                {"exc": requests.ConnectionError("refused")},
                f"Unable to establish connection to {SERVERS}: refused",
            ),
            ({"exc": requests.ReadTimeout()}, f"Request to {SERVERS} timed out"),
            ({"status_code": 403}, "Forbidden (HTTP 403)"),
            ({"text": "<html>"}, f"{NOVA} does not answer as Nova does"),
            ({"json": [1]}, f"{NOVA} does not answer as Nova does"),
        ):
            self.answer(**answer)
            self.assertEqual([None, None], self.shown())
            said = self.logged.output.splitlines()[-1]
            self.assertTrue(
                said.startswith(f"the servers are shown without their addresses: {expected}"), said
            )

    def test_an_answer_that_lacks_some(self):
        addresses = {"lan": [{"addr": "10.0.0.5"}]}
        self.answer(json={"servers": [{"id": self.first, "addresses": addresses}]})
        self.assertEqual([["10.0.0.5"], None], self.shown())
        self.assertEqual(
            "1 of 2 servers are shown without their addresses: Nova's answer lacks them",
            self.logged.output.splitlines()[-1],
        )

    def test_a_limited_time(self):
        self.answer(json={"servers": []})
        self.shown()
        self.assertEqual([addresses.TIMEOUT], [each.timeout for each in self.nova.request_history])

    def test_nova_is_not_asked_for_nothing(self):
        self.succeed("job", "show", "solver", "-c", "name", "-c", "state")
        self.change(self.job, state=JobState.FINISHED)
        self.assertEqual([None, None], self.shown())
        self.submit(name="new")
        self.succeed("job", "show", "new")
        self.services = set()
        self.change(self.job, state=JobState.RUNNING)
        self.assertEqual([None, None], self.shown())
        self.assertEqual([], self.nova.request_history)

    def test_servers_that_are_kept(self):
        self.answer(json={"servers": []})
        self.change(self.job, state=JobState.FINISHED, keep_servers=True)
        self.shown()
        self.assertEqual(1, len(self.asked()))

    def test_an_api_that_names_no_servers(self):
        job = {"state": "running", "keep_servers": False}
        self.assertIsNone(addresses.add(types.SimpleNamespace(), job))
        self.assertEqual({"state": "running", "keep_servers": False}, job)
