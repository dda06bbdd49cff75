"""A cloud with Neutron in its catalog."""

import pathlib

import fixtures
import requests
from keystoneauth1 import fixture as keystone_fixture

from nova_twotier import conf as config
from nova_twotier.cloud import qos
from tests.unit.cloud.cloud_case import OPTIONS, TOKENS, CloudCase
from tests.unit.cloud.fake_neutron import NEUTRON, PROJECT, FakeNeutron
from tests.unit.manager import builders

JOB = builders.job(size=3, bandwidth=100.0)


class NeutronCase(CloudCase):
    """`self.neutron` keeps what the manager makes; `self.gang` are the servers of `JOB`."""

    CATALOG = ("compute", "network")
    EXTENSIONS = ("qos",)

    def setUp(self):
        super().setUp()
        self.neutron = FakeNeutron(self.http, self.EXTENSIONS)
        self.gang = builders.servers(JOB)
        for server in self.gang:
            self.neutron.add_port(server.id)

    def _log_in(self, _request, context):
        context.status_code = 201
        context.headers["X-Subject-Token"] = "managers-token"
        token = keystone_fixture.V3Token(user_id="manager")
        token.set_project_scope(id=PROJECT)
        for service in self.CATALOG:
            token.add_service(service).add_standard_endpoints(public=NEUTRON)
        return token

    def keystone_is_down(self):
        self.http.post(TOKENS, exc=requests.exceptions.ConnectTimeout)

    def keystone_is_up(self):
        self.http.post(TOKENS, json=self._log_in)

    def find(self, options="", before=OPTIONS):
        """What a manager finds when it starts, with these options of `[network]`."""
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, "nova-twotier.conf")
        path.write_text(f"{before}\n[network]\n{options}\n")
        return qos.find(config.load(["--config-file", str(path)], "test"))

    def of_ports(self):
        """The policies of all ports."""
        return [port["qos_policy_id"] for port in self.neutron.ports.values()]

    def changes(self):
        """Requests since the last time that were to change something."""
        asked = [request for request in self.neutron.asked if request[0] != "GET"]
        self.neutron.asked.clear()
        return asked
