"""What a job asks for is looked up in Nova when it is submitted, as its owner."""

import re

import fixtures
from requests_mock.contrib import fixture as requests_mock_fixture

from nova_twotier.api import known
from nova_twotier.cloud.trusts import NoTrust
from tests.unit.api.case import OTHER, ApiCase, KeystoneCase

NOVA = "http://nova.test/v2.1"
OPTIONS = f"[nova]\nauth_type = none\nendpoint_override = {NOVA}"
JSON = {"Content-Type": "application/json"}
NOT_FOUND = {"itemNotFound": {"code": 404, "message": "not here"}}


class NovaMixin:
    """Nova has the flavors `slot` and `5`, and the key `mine`."""

    def setUp(self):
        super().setUp()
        self.nova = self.useFixture(requests_mock_fixture.Fixture())
        self.nova.get(re.compile(f"^{NOVA}/"), json=NOT_FOUND, status_code=404)
        flavors = {"flavors": [{"name": "slot", "id": "f1"}, {"name": "big", "id": "5"}]}
        self.nova.get(f"{NOVA}/flavors/detail", json=flavors, headers=JSON)
        self.nova.get(f"{NOVA}/os-keypairs/mine", json={"keypair": {}})

    @property
    def asked(self):
        return [request.path for request in self.nova.request_history]

    def pools_with_tiers(self, **tiers):
        """Have an aggregate of one host in each pool; the number of its tiers by pool."""
        aggregates = [
            {"id": number, "name": pool, "hosts": [pool], "availability_zone": None}
            | {"metadata": {"twotier:slots": "2", "twotier:tiers": count, "twotier:pool": pool}}
            for number, (pool, count) in enumerate(tiers.items())
        ]
        self.nova.get(f"{NOVA}/os-aggregates", json={"aggregates": aggregates}, headers=JSON)
        self.nova.get(f"{NOVA}/os-hypervisors/detail", json={"hypervisors": []}, headers=JSON)

    def submitting(self, by="alice:demo", **body):
        return self.ask("POST", "/v1/jobs", by, json={"size": 1, **body})


class TestWithoutKeystone(NovaMixin, ApiCase):
    OPTIONS = f"{OPTIONS}\n[manager]\npools = default,gpu"

    def test_what_is_there(self):
        for body in ({}, {"flavor": "slot"}, {"flavor": "5", "key_name": "mine"}):
            self.answered(201, self.submitting(**body))
        for networks in ("none", "auto"):
            self.answered(201, self.submitting(networks=networks))

    def test_nothing_is_asked_for_nothing(self):
        self.answered(201, self.submitting())
        self.assertEqual([], self.asked)

    def test_what_is_missing(self):
        for body, told in (
            ({"key_name": "yours"}, "key_name: you have no key pair 'yours'; `openstack keypair"),
            ({"flavor": "huge"}, "flavor: there is no flavor 'huge' for you; `openstack flavor"),
            ({"image": OTHER}, f"image: there is no image {OTHER} for you; `openstack image list`"),
            ({"networks": [OTHER]}, f"networks: there is no network {OTHER} for you; `openstack"),
        ):
            [detail] = self.refused(400, "request.invalid", self.submitting(**body))
            self.assertIn(told, detail)
        self.assertEqual([], self.store.jobs())

    def test_all_that_is_missing_in_one_answer(self):
        answer = self.submitting(key_name="yours", flavor="huge", networks=[OTHER])
        self.assertEqual(3, len(self.refused(400, "request.invalid", answer)))

    def test_cpus_of_their_own(self):
        """Only in pools whose slots have several tiers, by the rule of the status check."""
        plain = {"name": "plain", "id": "f1", "extra_specs": {"hw:cpu_policy": "shared"}}
        self.pools_with_tiers(default="2", gpu="1")
        for number, (key, value) in enumerate(
            (
                ("hw:cpu_policy", "dedicated"),
                ("hw:cpu_policy", "mixed"),
                ("resources:PCPU", "1"),
                ("resources2:PCPU", "1"),
            )
        ):
            specs = {"resources:CUSTOM_TWOTIER_SLOT": "1", key: value}
            pinned = {"name": f"own{number}", "id": "f2", "extra_specs": specs}
            self.nova.get(f"{NOVA}/flavors/detail", json={"flavors": [plain, pinned]}, headers=JSON)
            for _each in range(2):
                self.answered(201, self.submitting(flavor=pinned["name"], pool="gpu"))
                answer = self.submitting(flavor=pinned["name"])
                [detail] = self.refused(400, "request.invalid", answer)
                self.assertIn(f"CPUs of their own ({key}={value})", detail)
                self.assertIn("give another flavor, or ask an operator", detail)
            self.answered(201, self.submitting(flavor="plain"))
        # What does is remembered: of the pool where it does, see above.
        asked = len(self.asked)
        self.answered(201, self.submitting(flavor="own3", pool="gpu"))
        self.assertEqual(asked, len(self.asked))

    def test_an_image_with_cpus_of_its_own(self):
        """Nova pins the VMs of an image, too, unless the flavor says that they are not."""
        self.pools_with_tiers(default="2", gpu="1")
        for policy, status in (("dedicated", 400), ("mixed", 400), ("shared", 201)):
            image = {"id": OTHER, "metadata": {"hw_cpu_policy": policy}}
            self.nova.get(f"{NOVA}/images/{OTHER}", json={"image": image}, headers=JSON)
            before = len(self.asked)
            answer = self.submitting(image=OTHER)
            if status == 201:
                self.answered(201, answer)
                self.assertEqual(before + 1, len(self.asked))
                continue
            [detail] = self.refused(400, "request.invalid", answer)
            self.assertIn(f"CPUs of their own (hw_cpu_policy={policy})", detail)
            self.assertIn("give another image", detail)
            self.answered(201, self.submitting(image=OTHER, pool="gpu"))

    def test_a_name_is_no_path(self):
        self.nova.get(f"{NOVA}/os-keypairs/a%3Fb%20c", json={"keypair": {}})
        self.answered(201, self.submitting(key_name="a?b c"))
        self.answered(201, self.submitting(key_name="../flavors"))
        self.assertIn("without asking Nova", self.logged.output)

    def test_what_was_found_is_remembered_for_a_while(self):
        for _each in range(2):
            self.answered(201, self.submitting(key_name="mine"))
        self.assertEqual(1, len(self.asked))
        self.answered(201, self.submitting("bob:demo", key_name="mine"))
        self.assertEqual(2, len(self.asked))
        self.useFixture(fixtures.MockPatchObject(known.Known, "LIFETIME", 0.0))
        self.answered(201, self.submitting("carol:demo", key_name="mine"))
        self.answered(201, self.submitting("carol:demo", key_name="mine"))
        self.assertEqual(4, len(self.asked))

    def test_not_more_than_so_much_is_remembered(self):
        self.useFixture(fixtures.MockPatchObject(known.Known, "MOST", 1))
        remembered = known.Known()
        things = [("p", "u", "default", "key", str(number)) for number in range(3)]
        for thing in things:
            remembered.add(thing)
        self.assertEqual([False, False, True], [thing in remembered for thing in things])

    def test_nova_is_left_alone_for_a_while_after_it_did_not_answer(self):
        """Each submission would wait for it as long as the first."""
        self.nova.get(f"{NOVA}/os-keypairs/yours", status_code=503)
        for by in ("alice:demo", "bob:demo", "carol:demo"):
            self.answered(201, self.submitting(by, key_name="yours"))
        self.assertEqual(1, len(self.asked))

    def test_where_nova_fails_with_one_thing_it_is_asked_for_the_next(self):
        self.nova.get(f"{NOVA}/os-keypairs/yours", status_code=500)
        self.answered(201, self.submitting(key_name="yours"))
        self.answered(201, self.submitting("bob:demo", key_name="mine"))
        self.assertEqual(2, len(self.asked))

    def test_a_tenant_cannot_say_that_nova_is_away(self):
        self.answered(201, self.submitting(key_name="../flavors"))
        self.answered(201, self.submitting("bob:demo", key_name="mine"))
        self.assertEqual(1, len(self.asked))

    def test_while_nova_does_not_say_jobs_are_accepted(self):
        self.useFixture(fixtures.MockPatchObject(known.Known, "LIFETIME", 0.0))
        for answer in (
            {"status_code": 503},
            {"status_code": 403, "json": {"forbidden": {"message": "no"}}},
            # Not Nova's own.
            {"status_code": 404, "text": "<html>"},
        ):
            self.nova.get(f"{NOVA}/os-keypairs/yours", **answer)
            self.answered(201, self.submitting(key_name="yours"))
        self.assertIn("accepted without asking Nova", self.logged.output)


class TestQuota(NovaMixin, ApiCase):
    """A job larger than the whole quota is refused; one that fits it may have to wait."""

    OPTIONS = OPTIONS

    def setUp(self):
        super().setUp()
        self.limits(maxTotalInstances=8, maxTotalCores=20, maxTotalRAMSize=-1)
        big = {"name": "big", "id": "5", "vcpus": 4, "ram": 1, "extra_specs": {}}
        self.nova.get(f"{NOVA}/flavors/detail", json={"flavors": [big]}, headers=JSON)

    def limits(self, **absolute):
        answer = {"limits": {"rate": [], "absolute": absolute}}
        self.nova.get(f"{NOVA}/limits", json=answer, headers=JSON)

    def test_what_can_start_is_accepted(self):
        self.answered(201, self.submitting(size=8))
        self.answered(201, self.submitting(size=5, flavor="big"))

    def test_what_never_can_is_refused(self):
        for body, told in (
            ({"size": 9}, "it needs 9 of Nova's quota instances, of which your project may have 8"),
            ({"size": 6, "flavor": "big"}, "it needs 24 of Nova's quota cores, of which your proj"),
        ):
            [detail] = self.refused(403, "quota.exceeded", self.submitting(**body))
            self.assertIn(told, detail)
        self.assertEqual([], self.store.jobs())

    def test_a_task_of_an_array_counts_alone(self):
        one = {"size": 8, "indexes": "0-9"}
        self.answered(201, self.ask("POST", "/v1/arrays", "alice:demo", json=one))
        answer = self.ask("POST", "/v1/arrays", "alice:demo", json=one | {"size": 9})
        self.refused(403, "quota.exceeded", answer)

    def test_nova_is_asked_once_in_a_while(self):
        for size in (8, 8, 3):
            self.answered(201, self.submitting(size=size))
        self.assertEqual(1, self.asked.count("/v2.1/limits"))
        self.answered(201, self.submitting(size=2, by="bob:other"))
        self.assertEqual(2, self.asked.count("/v2.1/limits"))
        self.refused(403, "quota.exceeded", self.submitting(size=9))
        self.assertEqual(3, self.asked.count("/v2.1/limits"))


class TestWithoutNova(ApiCase):
    def test_an_api_that_does_not_know_nova_checks_nothing(self):
        self.submit(key_name="yours", flavor="huge")


class TestByTrust(NovaMixin, KeystoneCase):
    OPTIONS = f"{KeystoneCase.OPTIONS}\n{OPTIONS}"

    def setUp(self):
        super().setUp()
        self.token = self.token_for("member", "reader", project_id="demo")
        self.lent = []
        name = "nova_twotier.api.job_resources.log_in"
        self.useFixture(fixtures.MonkeyPatch(name, self.log_in))
        self.refusal = None

    def log_in(self, _conf, _session, trust):
        if self.refusal:
            raise self.refusal
        self.lent.append(trust)

    def test_it_is_asked_by_the_trust_of_the_job(self):
        self.submit(self.token, key_name="mine")
        self.assertEqual(["trust-1"], self.lent)

    def test_a_refused_job_leaves_no_trust(self):
        answer = self.submitting(self.token, key_name="yours")
        self.refused(400, "request.invalid", answer)
        self.assertEqual(["trust-1"], self.trusts.deleted)

    def test_a_trust_that_does_not_work_yet(self):
        self.refusal = NoTrust("no")
        self.answered(201, self.submitting(self.token, key_name="yours"))
