"""What the manager asks Nova to do with a job's servers, and how it takes a refusal."""

import base64
import dataclasses
import re
import time
from datetime import UTC, datetime
from unittest import mock

import requests
from keystoneauth1 import exceptions as ksa_exc

from nova_twotier.cloud import consoles
from nova_twotier.cloud.errors import CloudError, NotYet, UnfitFlavor, UnfitImage, shortage
from nova_twotier.cloud.listing import Lister
from nova_twotier.cloud.servers import JOB_KEY, NOTICE_KEY, Server
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import waits
from tests.unit.cloud.cloud_case import NOVA, CloudCase
from tests.unit.cloud.listings import serve
from tests.unit.manager.builders import job

SLOT = {"resources:CUSTOM_TWOTIER_SLOT": "1"}
VM = Server("vm", "job", 0, "ACTIVE", None, "a")


class TestLimitedFlavors(CloudCase):
    def limited(self, **tiers):
        flavors = [
            {"id": f"id of {name}", "name": name, "extra_specs": {**SLOT, "twotier:tiers": value}}
            for name, value in tiers.items()
        ]
        flavors.append({"id": "1", "name": "plain", "extra_specs": SLOT})
        self.http.get(f"{NOVA}/flavors/detail", json={"flavors": flavors})
        return self.cloud.limited_flavors()

    def test_by_name_and_by_id(self):
        found = self.limited(low="bg", high="fg", both="fg,bg", wrong="middle")
        low, high = (Tier.BG,), (Tier.FG,)
        self.assertEqual({"low": low, "id of low": low, "high": high, "id of high": high}, found)

    def test_of_jobs_that_name_none(self):
        self.assertEqual((Tier.BG,), self.limited(slot="bg")[None])


class TestCheck(CloudCase):
    def test_what_pins_vms_of_the_default_flavor(self):
        for more, specs in (
            ({}, []),
            ({"hw:cpu_policy": "shared"}, []),
            ({"hw:cpu_policy": "dedicated"}, ["hw:cpu_policy=dedicated"]),
        ):
            flavor = {"id": "1", "name": "slot", "extra_specs": {**SLOT, **more}}
            self.http.get(f"{NOVA}/flavors/detail", json={"flavors": [flavor]})
            self.assertEqual(specs, self.cloud.check())


class TestBoot(CloudCase):
    def setUp(self):
        super().setUp()
        flavors = [
            {"id": "1", "name": "slot", "extra_specs": SLOT},
            {"id": "2", "name": "large", "extra_specs": SLOT},
            {"id": "3", "name": "plain", "extra_specs": {}},
        ]
        self.http.get(f"{NOVA}/flavors/detail", json={"flavors": flavors})
        group = {"server_group": {"id": "g"}}
        self.groups = self.http.post(f"{NOVA}/os-server-groups", json=group)

    def image(self, metadata, status_code=200):
        body = {"image": {"metadata": metadata}}
        url = f"{NOVA}/images/{self.conf.manager.image}"
        self.http.get(url, json=body, status_code=status_code)

    def test_the_group_of_an_attempt_before(self):
        """On whatever page of the project's groups; it is not made again."""
        one = job()
        names = [f"other{number}" for number in range(3)] + [f"twotier-{one.uuid}", "last"]
        groups = [{"id": f"g{number}", "name": name} for number, name in enumerate(names)]
        serve(self.http, f"{NOVA}/os-server-groups", groups, page=2)
        self.assertEqual("g3", self.boot(one)["os:scheduler_hints"]["group"])
        self.assertFalse(self.groups.called)

    def test_an_image_that_lets_guests_shut_down_slowly(self):
        """Nova would wait that long each time that it is shelved."""
        self.conf.set_override("longest_shutdown", 60.0, "manager")
        self.addCleanup(self.conf.clear_override, "longest_shutdown", "manager")
        self.image({"os_shutdown_timeout": "60"})
        self.boot(job())
        self.image({"os_shutdown_timeout": "61"})
        booted = self.booted.call_count
        error = self.assertRaises(UnfitImage, self.cloud.boot, job())
        self.assertIn("os_shutdown_timeout=61; choose one that has at most 60", str(error.reason))
        self.assertEqual(booted, self.booted.call_count)

    def test_an_image_that_is_not_there(self):
        """Nova says so when it is to boot from it."""
        self.image({}, status_code=404)
        self.boot(job())

    def boot(self, one, user_data=None):
        self.cloud.boot(one, user_data)
        return self.booted.last_request.json()

    def test_what_the_options_say(self):
        one = job(size=3)
        body = self.boot(one)
        server = body["server"]
        self.assertEqual(
            (f"tt-{one.number}", "1", self.conf.manager.image, "none", 3, 3),
            tuple(
                server[key]
                for key in ("name", "flavorRef", "imageRef", "networks", "min_count", "max_count")
            ),
        )
        self.assertEqual({"group": "g", "twotier:job": one.uuid}, body["os:scheduler_hints"])
        self.assertFalse({"user_data", "key_name"} & server.keys())

    def test_a_server_that_is_alone(self):
        """Nova would not number it."""
        one = job(size=1)
        self.assertEqual(f"tt-{one.number}-1", self.boot(one)["server"]["name"])

    def test_what_the_job_says(self):
        one = job(flavor="large", image="i", networks=["n1", "n2"], key_name="mine")
        encoded = base64.b64encode(b"#!/bin/sh\n").decode()
        server = self.boot(one, encoded)["server"]
        self.assertEqual(
            ("2", "i", "mine"), tuple(server[key] for key in ("flavorRef", "imageRef", "key_name"))
        )
        self.assertEqual([{"uuid": "n1"}, {"uuid": "n2"}], server["networks"])
        self.assertEqual(encoded, server["user_data"])

    def test_who_its_guests_are(self):
        """They find it at their first boot, and wait for the addresses if there will be any."""
        for networks, addresses in ((["none"], "0"), (["n1"], "")):
            server = self.boot(job(size=3, peers=True, networks=networks, runs=1))["server"]
            self.assertEqual(addresses, server["metadata"]["twotier_peers"])
            self.assertIn("TWOTIER_SIZE=3 TWOTIER_RESTARTS=1", server["metadata"]["twotier_env"])
        server = self.boot(job(size=1, peers=True, networks=["n1"]))["server"]
        self.assertEqual("0", server["metadata"]["twotier_peers"])
        one = job(size=3)
        self.assertEqual({JOB_KEY: one.uuid}, self.boot(one)["server"]["metadata"])

    def test_any_network(self):
        self.assertEqual("auto", self.boot(job(networks=["auto"]))["server"]["networks"])

    def test_a_flavor_by_its_id(self):
        self.assertEqual("2", self.boot(job(flavor="2"))["server"]["flavorRef"])

    def test_a_flavor_that_asks_for_no_slot(self):
        for name, text in (
            ("plain", "flavor plain does not have resources:CUSTOM_TWOTIER_SLOT=1"),
            ("huge", "there is no flavor huge"),
        ):
            error = self.assertRaises(UnfitFlavor, self.cloud.boot, job(flavor=name))
            self.assertIn(text, str(error.reason))
            self.assertFalse(error.passing)
        self.assertFalse(self.booted.called)
        self.assertFalse(self.groups.called)


class TestNotice(CloudCase):
    URL = f"{NOVA}/servers/vm/metadata"

    def test_said_and_taken_back(self):
        said = self.http.post(self.URL, json={"metadata": {}})
        self.cloud.notice(VM, "preempted at noon")
        self.assertEqual({"metadata": {NOTICE_KEY: "preempted at noon"}}, said.last_request.json())
        for status in (204, 404):
            taken = self.http.delete(f"{self.URL}/{NOTICE_KEY}", status_code=status)
            self.cloud.notice(VM, None)
            self.assertTrue(taken.called_once)


class TestMetadata(CloudCase):
    def test_some_items(self):
        said = self.http.post(f"{NOVA}/servers/vm/metadata", json={"metadata": {}})
        self.cloud.set_metadata(VM, {"one": "1", "two": ""})
        self.assertEqual({"metadata": {"one": "1", "two": ""}}, said.last_request.json())


class TestRefusals(CloudCase):
    def refused(self, status, message="no"):
        answer = {"refusal": {"message": message, "code": status}}
        self.http.post(f"{NOVA}/servers/vm/action", status_code=status, json=answer)
        return self.assertRaises(CloudError, self.cloud.shelve, VM)

    def test_what_passes(self):
        for status, passes in (
            (400, False),
            (403, False),
            (404, False),
            (409, True),
            (429, True),
            (500, True),
            (503, True),
        ):
            error = self.refused(status)
            self.assertEqual((status, passes), (error.status, error.passing))

    def test_a_state_that_does_not(self):
        error = self.refused(409, "Cannot 'shelve' instance 1 while it is in vm_state rescued")
        self.assertFalse(error.passing)

    def test_no_answer(self):
        for error in (ksa_exc.ConnectFailure("refused"), ksa_exc.ConnectTimeout("slow")):
            self.http.post(f"{NOVA}/servers/vm/action", exc=error)
            found = self.assertRaises(CloudError, self.cloud.shelve, VM)
            self.assertEqual((0, True), (found.status, found.passing))

    def test_an_answer_that_is_not_novas(self):
        """Half of one, or that of a proxy, with a status of 2xx: Nova may have done it."""
        for text in ("", "<html>Back soon</html>", '{"server": {"id": ', "null", "[]", "{}"):
            self.http.post(re.compile(f"^{NOVA}/servers"), text=text)
            self.http.get(re.compile(f"^{NOVA}/(servers|os-services)"), text=text)
            for request in (
                lambda: self.cloud.boot(job()),
                lambda: self.cloud.notice(VM, "evict"),
                lambda: self.cloud.console_log(VM, 9),
                self.cloud.servers,
                self.cloud.hosts,
            ):
                error = self.assertRaises(CloudError, request)
                self.assertEqual((0, True, True), (error.status, error.passing, error.taken), text)

    def test_quota(self):
        text = "Quota exceeded for cores, ram: Requested 2, 64, but already used 9, 9 of 10, 70"
        for words, short in (
            (text, "cores, ram"),
            ("Quota exceeded, too many server groups.", "server groups"),
            ("Quota exceeded.", "quota"),
            ("Maximum number of ports exceeded", "ports"),
        ):
            self.assertEqual(short, self.refused(403, words).shortage)
        self.assertEqual("", self.refused(403, "Policy doesn't allow it").shortage)
        self.assertEqual("", self.refused(409, text).shortage)


class TestQuota(CloudCase):
    """What Nova says of its quotas when it refuses a job, and what that means for the job."""

    UNIFIED = "Project p is over a limit for [Resource {} is over limit of {} due to current usage "

    def refused(self, said, status=200, **absolute):
        limits = {"limits": {"rate": [], "absolute": absolute}}
        self.http.get(f"{NOVA}/limits", json=limits, status_code=status)
        answer = {"forbidden": {"message": said, "code": 403}}
        self.http.post(f"{NOVA}/servers", status_code=403, json=answer)
        error = self.assertRaises(CloudError, self.cloud.boot, job(size=4, uuid="u"))
        self.assertFalse(error.passing)
        return error

    def too_small(self, error):
        """What is told of a quota that is; None: it is not."""
        reason = error.reason
        too_small = reason is not None and reason.code is waits.QUOTA_TOO_SMALL
        return dict(reason.parameters) if too_small else None

    def test_others_use_it(self):
        said = "Quota exceeded for instances: Requested 4, but already used 2 of 5 instances"
        error = self.refused(said, maxTotalInstances=5)
        self.assertEqual(("instances", None), (error.shortage, error.reason))

    def test_the_job_is_too_large(self):
        said = "Quota exceeded for instances: Requested 4, but already used 0 of 3 instances"
        error = self.refused(said, maxTotalInstances=3)
        self.assertEqual({"resource": "instances", "limit": 3}, self.too_small(error))

    def test_limits_that_are_not_told(self):
        said = "Quota exceeded for cores: Requested 4, but already used 0 of 3"
        error = self.refused(said, status=503)
        self.assertEqual(("cores", None), (error.shortage, error.reason))

    def test_unified_limits(self):
        said = self.UNIFIED.format("class:VCPU", 5) + "2 and delta 4]"
        error = self.refused(said)
        self.assertEqual(("class:VCPU", None), (error.shortage, error.reason))
        error = self.refused(self.UNIFIED.format("servers", 3) + "0 and delta 4]")
        self.assertEqual({"resource": "servers", "limit": 3}, self.too_small(error))

    def over(self, **limits):
        """Nova's error when 4 more servers exceed the limits while 2 are in use."""
        each = "Resource class:{} is over limit of {} due to current usage 2 and delta 4"
        listed = ", ".join(each.format(*limit) for limit in sorted(limits.items()))
        return f"Project p is over a limit for [{listed}]"

    def test_resources_without_a_limit_in_keystone(self):
        """Nova names them as well, and refuses nothing because of them while it names another."""
        error = self.refused(self.over(CUSTOM_TWOTIER_SLOT=0, DISK_GB=-1, VCPU=5))
        self.assertEqual(("class:VCPU", None), (error.shortage, error.reason))
        error = self.refused(self.over(CUSTOM_TWOTIER_SLOT=0, DISK_GB=-1, VCPU=3))
        self.assertEqual({"resource": "class:VCPU", "limit": 3}, self.too_small(error))

    def test_limits_of_nothing(self):
        """Nova does not say which of them it enforces."""
        error = self.refused(self.over(CUSTOM_TWOTIER_SLOT=0, DISK_GB=-1, VCPU=0))
        names = "class:CUSTOM_TWOTIER_SLOT, class:VCPU"
        self.assertEqual({"resource": names, "limit": 0}, self.too_small(error))

    def test_a_text_that_is_cut_off(self):
        """Nova cuts the fault of a server off: the limit that is used up may be in the rest."""
        text = self.over(CUSTOM_TWOTIER_SLOT=0, MEMORY_MB=0, VCPU=5)
        for length, expected in ((len(text) - 1, "class:VCPU"), (len(text) - 70, "quota")):
            self.assertEqual(expected, shortage(text[:length]))


class TestPower(CloudCase):
    def test_start(self):
        asked = self.http.post(f"{NOVA}/servers/vm/action", status_code=202)
        self.cloud.start(VM)
        self.assertEqual({"os-start": None}, asked.last_request.json())


class TestDelete(CloudCase):
    URL = f"{NOVA}/servers/vm"

    def setUp(self):
        super().setUp()
        self.forced = self.http.post(f"{self.URL}/action", status_code=202)
        self.plain = self.http.delete(self.URL, status_code=204)

    def delete(self, server=VM):
        """How often it was asked for by force, and how often otherwise."""
        self.cloud.delete(server)
        return self.forced.call_count, self.plain.call_count

    def test_at_once(self):
        self.assertEqual((1, 0), self.delete())
        self.assertEqual({"forceDelete": None}, self.forced.last_request.json())

    def test_one_on_no_host(self):
        self.assertEqual((0, 1), self.delete(dataclasses.replace(VM, host=None)))

    def test_one_that_is_gone(self):
        self.forced = self.http.post(f"{self.URL}/action", status_code=404)
        self.assertEqual((1, 0), self.delete())

    def test_where_nobody_may_do_so_by_force(self):
        """A policy of its own says who may: jobs must end all the same."""
        self.forced = self.http.post(f"{self.URL}/action", status_code=403)
        self.assertEqual((1, 1), self.delete())
        self.http.delete(self.URL, status_code=403)
        self.assertRaises(CloudError, self.cloud.delete, VM)

    def test_a_tenants_server_does_not_go_in_vain(self):
        """A plain deletion could leave it SOFT_DELETED, and its slot in use."""
        self.http.post(f"{self.URL}/action", status_code=403)
        tenants = dataclasses.replace(VM, job="")
        self.assertRaises(CloudError, self.cloud.delete, tenants)
        self.assertEqual(0, self.plain.call_count)


class TestConsoleLog(CloudCase):
    URL = f"{NOVA}/servers/vm/action"

    def test_its_end(self):
        asked = self.http.post(self.URL, json={"output": "one\ntwo\n"})
        self.assertEqual("one\ntwo\n", self.cloud.console_log(VM, 2))
        self.assertEqual({"os-getConsoleOutput": {"length": 2}}, asked.last_request.json())

    def test_nothing_yet(self):
        self.http.post(self.URL, json={"output": None})
        self.assertEqual("", self.cloud.console_log(VM, 2))

    def test_none(self):
        answer = {"conflictingRequest": {"message": "not ready", "code": 409}}
        self.http.post(self.URL, status_code=409, json=answer)
        error = self.assertRaises(CloudError, self.cloud.console_log, VM, 2)
        self.assertEqual((409, True), (error.status, error.passing))

    def test_a_host_that_does_not_answer_is_left_alone_for_a_while(self):
        asked = self.http.post(self.URL, exc=requests.ReadTimeout)
        other = self.http.post(f"{NOVA}/servers/elsewhere/action", json={"output": "one"})
        self.assertRaises(NotYet, self.cloud.require_report, VM, "saved")
        self.assertEqual(consoles.TIMEOUT, asked.last_request.timeout)
        self.assertRaises(NotYet, self.cloud.console_log, VM, 2)
        self.assertRaises(NotYet, self.cloud.require_report, VM, "saved")
        self.assertEqual(1, asked.call_count)
        elsewhere = dataclasses.replace(VM, id="elsewhere", host="b")
        self.assertEqual("one", self.cloud.console_log(elsewhere, 2))
        later = time.monotonic() + consoles.PAUSE
        with mock.patch("time.monotonic", lambda: later):
            self.assertRaises(CloudError, self.cloud.console_log, VM, 2)
        self.assertEqual((2, 1), (asked.call_count, other.call_count))
        self.assertEqual(consoles.PAUSE, asked.last_request.timeout)


class TestServers(CloudCase):
    ONE = {
        "id": "s",
        "status": "SHUTOFF",
        "tenant_id": "p",
        "user_id": "u",
        "metadata": {JOB_KEY: "job"},
        "OS-EXT-SRV-ATTR:launch_index": 3,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": "a.example",
        "OS-EXT-STS:task_state": "powering-on",
        "OS-EXT-STS:vm_state": "stopped",
        "OS-EXT-STS:power_state": 4,
        "OS-SRV-USG:launched_at": "2026-01-01T00:00:00.000000",
        "updated": "2026-01-01T00:01:00Z",
        "addresses": {
            "lan": [
                {"addr": "10.0.0.5", "version": 4, "OS-EXT-IPS:type": "fixed"},
                {"addr": "203.0.113.9", "version": 4, "OS-EXT-IPS:type": "floating"},
            ],
            "wan": [{"addr": "fd00::5", "version": 6, "OS-EXT-IPS:type": "fixed"}],
        },
    }
    DOWN = {"id": "s", "status": "UNKNOWN", "tenant_id": "p", "created": "-", "links": []}

    def listed(self, *servers):
        serve(self.http, f"{NOVA}/servers/detail", list(servers))

    def test_what_nova_says_of_one(self):
        self.listed(self.ONE)
        self.http.get(f"{NOVA}/servers/s", json={"server": self.ONE})
        midnight = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
        expected = Server(
            "s",
            "job",
            3,
            "SHUTOFF",
            "powering-on",
            "a.example",
            owner=("p", "u"),
            vm_state="stopped",
            power_state=4,
            launched_at=midnight,
            updated_at=midnight + 60,
            metadata={JOB_KEY: "job"},
            addresses=self.ONE["addresses"],
        )
        self.assertEqual([expected], self.cloud.servers())
        self.assertEqual(expected, self.cloud.server("s"))
        self.assertEqual(["10.0.0.5", "fd00::5"], expected.fixed_addresses)

    def test_the_same_as_long_as_none_changes(self):
        self.listed(self.ONE)
        first = self.cloud.servers()
        self.assertIs(first, self.cloud.servers())
        self.listed(self.ONE | {"OS-EXT-STS:task_state": "deleting"})
        [changed] = self.cloud.servers()
        self.assertEqual("deleting", changed.task)
        self.assertIsNot(first, self.cloud.servers())

    def test_what_is_recorded_counts(self):
        self.listed(self.ONE)
        self.cloud.servers()
        self.cloud.remember({"s": "recorded"})
        [server] = self.cloud.servers()
        self.assertEqual("recorded", server.job)

    def test_who_begins_to_lead_lists_all(self):
        """But remembers the job that a server named first: its owner may have changed that."""
        self.listed(self.ONE)
        self.cloud.servers()
        self.listed(self.ONE | {"id": "other"}, self.ONE | {"metadata": {JOB_KEY: "stolen"}})
        self.cloud.begin(Lister())
        self.assertEqual(
            {"other": "job", "s": "job"},
            {server.id: server.job for server in self.cloud.servers()},
        )
        self.assertNotIn("changes-since", self.http.request_history[-1].url)

    def test_one_that_was_never_on_a_host(self):
        missing = {"OS-SRV-USG:launched_at": None, "OS-EXT-STS:power_state": None}
        self.listed(self.ONE | missing)
        [server] = self.cloud.servers()
        self.assertEqual((None, 0), (server.launched_at, server.power_state))

    def test_not_while_a_cell_is_down(self):
        """Nova shows little of its servers then: their jobs are not to be taken for broken."""
        self.listed(self.DOWN)
        error = self.assertRaises(CloudError, self.cloud.servers)
        self.assertIn("a cell", str(error))

    def test_one_of_a_cell_that_is_down(self):
        """Its job is the one that it named before."""
        self.listed(self.ONE)
        self.cloud.servers()
        self.http.get(f"{NOVA}/servers/s", json={"server": self.DOWN})
        server = self.cloud.server("s")
        self.assertEqual((True, "job", None), (server.unknown, server.job, server.host))

    def test_one_that_does_not_exist(self):
        answer = {"itemNotFound": {"message": "no s", "code": 404}}
        self.http.get(f"{NOVA}/servers/s", status_code=404, json=answer)
        self.assertIsNone(self.cloud.server("s"))

    def test_one_that_a_proxy_does_not_find(self):
        self.http.get(f"{NOVA}/servers/s", status_code=404, text="no such page")
        self.assertRaises(CloudError, self.cloud.server, "s")

    def test_one_that_is_no_jobs(self):
        self.http.get(f"{NOVA}/servers/s", json={"server": self.ONE | {"metadata": {}}})
        self.assertEqual("", self.cloud.server("s").job)


class TestForcedMigration(CloudCase):
    def test_only_what_is_under_way(self):
        url = f"{NOVA}/servers/vm/migrations"
        listed = [{"id": 1, "status": "completed"}, {"id": 2, "status": "running"}]
        self.http.get(url, json={"migrations": listed})
        forced = self.http.post(f"{url}/2/action", status_code=202)
        self.cloud.force_migration(VM)
        self.assertEqual({"force_complete": None}, forced.last_request.json())
