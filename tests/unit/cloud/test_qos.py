"""Bandwidth of jobs in Neutron: what is made, adopted, taken back, and what if it fails."""

import re

import requests

from nova_twotier.cloud.qos import NeutronError
from nova_twotier.core.reasons import failures
from tests.unit.cloud.fake_neutron import NEUTRON, Killed
from tests.unit.cloud.qos_case import JOB, NeutronCase
from tests.unit.manager import builders

NAME = f"twotier-{JOB.uuid}"
EGRESS = ("minimum_bandwidth", "egress", 100_000)


class TestFind(NeutronCase):
    def test_neutron(self):
        self.assertTrue(self.find().available)
        self.assertNotIn("not enforced", self.log.output)

    def test_not_wanted(self):
        self.assertIsNone(self.find("qos = false"))
        self.assertEqual([], self.neutron.asked)

    def test_keystone_is_down_at_first(self):
        self.keystone_is_down()
        found = self.find()
        error = self.assertRaises(NeutronError, found.guarantee, JOB, self.gang)
        self.assertTrue(error.passing)
        self.keystone_is_up()
        found.guarantee(JOB, self.gang)
        self.assertEqual([EGRESS], self.neutron.rules())


class TestNoNeutron(NeutronCase):
    CATALOG = ("compute",)

    def test_it_is_said_and_nothing_else(self):
        self.assertIsNone(self.find())
        self.assertIn("counted but not enforced: the catalog has no Neutron", self.log.output)
        self.assertEqual([], self.neutron.asked)

    def test_keystone_is_down_at_first(self):
        self.keystone_is_down()
        found = self.find()
        self.keystone_is_up()
        found.guarantee(JOB, self.gang)
        found.withdraw(JOB, self.gang)
        self.assertEqual([], self.neutron.asked)
        self.assertEqual(1, self.log.output.count("not enforced"))


class TestEmptyCatalog(TestNoNeutron):
    CATALOG = ()


class TestNoQos(NeutronCase):
    EXTENSIONS = ()

    def test_it_is_said(self):
        self.assertIsNone(self.find())
        self.assertIn("counted but not enforced: Neutron has no QoS", self.log.output)


class TestNoCatalog(NeutronCase):
    def test_an_endpoint_for_whatever_service_is_not_neutron(self):
        """As in a cloud without Keystone, whose only endpoint is Nova's."""
        only = f"[nova]\nauth_type = admin_token\nendpoint = {NEUTRON}\ntoken = t"
        self.assertIsNone(self.find(before=only))
        self.assertEqual([], self.neutron.asked)


class TestGuarantee(NeutronCase):
    def test_every_port_of_the_servers(self):
        other = self.neutron.add_port("of another server")
        self.find().guarantee(JOB, self.gang)
        [policy] = self.neutron.policies.values()
        self.assertEqual(NAME, policy["name"])
        self.assertEqual([policy["id"]] * 3 + [None], self.of_ports())
        self.assertIsNone(other["qos_policy_id"])
        self.assertEqual([EGRESS], self.neutron.rules())

    def test_options(self):
        self.find("maximum = true\ndirections = egress,ingress").guarantee(JOB, self.gang)
        both = ("minimum_bandwidth", "bandwidth_limit")
        self.assertEqual(
            [(kind, way, 100_000) for way in ("egress", "ingress") for kind in both],
            self.neutron.rules(),
        )

    def test_a_fraction_counts_as_a_whole_one(self):
        self.find().guarantee(builders.job(bandwidth=0.2), self.gang)
        self.assertEqual([("minimum_bandwidth", "egress", 1000)], self.neutron.rules())

    def test_servers_without_ports(self):
        self.neutron.ports.clear()
        self.find().guarantee(JOB, self.gang)
        self.assertEqual([], self.changes())

    def test_many_servers(self):
        one = builders.job(size=120, bandwidth=1.0)
        gang = builders.servers(one)
        for server in gang:
            self.neutron.add_port(server.id)
        self.find().guarantee(one, gang)
        self.assertEqual(120, sum(policy is not None for policy in self.of_ports()))

    def test_again_changes_nothing(self):
        self.find().guarantee(JOB, self.gang)
        self.changes()
        self.find().guarantee(JOB, self.gang)
        self.assertEqual([], self.changes())

    def test_killed_anywhere(self):
        """Whatever was done is taken over."""
        for last in range(1, 7):
            self.neutron.policies.clear()
            for port in self.neutron.ports.values():
                port["qos_policy_id"] = None
            self.neutron.dies_at = last
            self.assertRaises(Killed, self.find("maximum = true").guarantee, JOB, self.gang)
            self.find("maximum = true").guarantee(JOB, self.gang)
            [policy] = self.neutron.policies
            self.assertEqual([policy] * 3, self.of_ports())
            self.assertEqual([EGRESS, ("bandwidth_limit", "egress", 100_000)], self.neutron.rules())
            self.changes()

    def test_a_strangers_policy_of_that_name(self):
        stranger = self.neutron.add_policy(NAME, project_id="mallory")
        found = self.find()
        found.guarantee(JOB, self.gang)
        self.assertNotIn(stranger, self.of_ports())
        found.withdraw(JOB, self.gang)
        self.assertEqual([stranger], list(self.neutron.policies))


class TestWithdraw(NeutronCase):
    def setUp(self):
        super().setUp()
        self.qos = self.find()
        self.qos.guarantee(JOB, self.gang)
        self.changes()

    def test_from_servers_that_stay(self):
        self.qos.withdraw(JOB, self.gang)
        self.assertEqual([None] * 3, self.of_ports())
        self.assertEqual({}, self.neutron.policies)

    def test_after_servers_that_went(self):
        self.neutron.ports.clear()
        self.qos.withdraw(JOB, [])
        self.assertEqual({}, self.neutron.policies)
        self.qos.withdraw(JOB, [])
        self.assertEqual(1, len(self.changes()))

    def test_a_policy_in_use(self):
        """Nova is not done yet with the ports of a server that it does not show any more."""
        error = self.assertRaises(NeutronError, self.qos.withdraw, JOB, [])
        self.assertIn("409 QoS Policy", str(error))
        self.assertTrue(error.passing)
        self.neutron.ports.clear()
        self.qos.withdraw(JOB, [])
        self.assertEqual({}, self.neutron.policies)

    def test_killed_anywhere(self):
        for last in range(1, 5):
            self.qos.guarantee(JOB, self.gang)
            self.neutron.dies_at = last
            self.assertRaises(Killed, self.qos.withdraw, JOB, self.gang)
            self.find().withdraw(JOB, self.gang)
            self.assertEqual([None] * 3, self.of_ports())
            self.assertEqual({}, self.neutron.policies)

    def test_doubles(self):
        """The request to make it was carried out twice."""
        self.neutron.add_policy(NAME)
        self.qos.guarantee(JOB, self.gang)
        self.qos.withdraw(JOB, self.gang)
        self.assertEqual({}, self.neutron.policies)

    def test_a_port_that_goes_meanwhile(self):
        listed = list(self.neutron.ports.values())
        self.qos._ports = lambda _servers: listed
        del self.neutron.ports[listed[0]["id"]]
        self.qos.withdraw(JOB, self.gang)
        self.assertEqual({}, self.neutron.policies)


class TestFailures(NeutronCase):
    def refused(self):
        return self.assertRaises(NeutronError, self.find().guarantee, JOB, self.gang)

    def test_what_passes(self):
        self.neutron.broken = ("POST",)
        error = self.refused()
        self.assertEqual(503, error.status)
        self.assertTrue(error.passing)
        self.assertIn("refused POST /qos/policies: 503 try later", str(error))

    def test_no_answer(self):
        found = self.find()
        self.http.get(f"{NEUTRON}/v2.0/ports", exc=requests.exceptions.ConnectTimeout)
        error = self.assertRaises(NeutronError, found.guarantee, JOB, self.gang)
        self.assertTrue(error.passing)
        self.assertIn("Neutron does not answer", str(error))

    def test_a_rule_that_the_ports_driver_does_not_know(self):
        self.neutron.unsupported = {"minimum_bandwidth"}
        error = self.refused()
        self.assertFalse(error.passing)
        self.assertEqual(failures.NEUTRON(), error.reason)

    def test_keystone_does_not_answer_any_more(self):
        """Each time that the manager's token has expired, it is asked for another."""
        found = self.find()
        found._session.invalidate()
        self.keystone_is_down()
        for ask in (found.guarantee, found.withdraw):
            self.assertTrue(self.assertRaises(NeutronError, ask, JOB, self.gang).passing)

    def test_an_answer_that_is_not_neutrons(self):
        """Unexpected JSON from Neutron counts as no answer, and the request is repeated."""
        found = self.find()
        for text in ("[]", "null", "{}", '{"ports": null}', '{"ports": [{}], "policies": [7]}'):
            self.http.get(re.compile(f"^{NEUTRON}/v2.0/(ports|qos)"), text=text)
            for request in (found.guarantee, found.withdraw):
                error = self.assertRaises(NeutronError, request, JOB, self.gang)
                self.assertEqual((0, True), (error.status, error.passing), text)
                self.assertIn("is not Neutron's", str(error))

    def test_an_answer_of_a_proxy(self):
        found = self.find()
        for status in (502, 200):
            self.http.get(f"{NEUTRON}/v2.0/ports", status_code=status, text="<html>Sorry</html>")
            error = self.assertRaises(NeutronError, found.guarantee, JOB, self.gang)
            self.assertTrue(error.passing)
