"""What real Nova refuses: at submission where that is possible, else at the start of the job."""

import types
import uuid

from nova_twotier.api import job_resources
from nova_twotier.api.errors import Refused
from nova_twotier.api.known import Known
from nova_twotier.core.reasons import failures, waits
from nova_twotier.db.states import JobState
from tests.functional.base import PROJECT, CloudTestCase
from tests.functional.operator_case import OperatorMixin
from tests.functional.queue_case import QueueTestCase

PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a"


class TestAtSubmission(OperatorMixin, CloudTestCase):
    PLUGIN = False

    def refused(self, **wanted):
        """What is said of a job that asks for something, at its submission."""
        session = self.as_admin()
        site = types.SimpleNamespace(
            known=Known(),
            nova=lambda: (session, {}),
            conf=types.SimpleNamespace(
                nova=types.SimpleNamespace(auth_type="password"),
                manager=types.SimpleNamespace(flavor=self.flavor),
            ),
        )
        caller = types.SimpleNamespace(project_id=PROJECT, user_id="admin")
        try:
            job_resources.check(site, caller, {"size": 2, **wanted}, None)
        except Refused as refusal:
            return list(refusal.details)
        return []

    def test_key_pairs(self):
        self.admin_api.post_keypair({"keypair": {"name": "my key", "public_key": PUBLIC_KEY}})
        self.assertEqual([], self.refused(key_name="my key"))
        [told] = self.refused(key_name="other")
        self.assertIn("you have no key pair 'other'", told)

    def test_flavors_images_and_networks(self):
        network = self.neutron.network_1["id"]
        there = {"flavor": self.flavor, "image": self.image, "networks": [network]}
        self.assertEqual([], self.refused(**there))
        wrong = str(uuid.uuid4())
        told = self.refused(flavor="none", image=wrong, networks=[network, wrong])
        self.assertEqual(["flavor", "image", "networks"], [each.split(":")[0] for each in told])

    def test_quota(self):
        self.flags(instances=4, cores=-1, ram=8 * 64, group="quota")
        self.assertEqual([], self.refused(size=4))
        [told] = self.refused(size=5)
        self.assertIn(
            "it needs 5 of Nova's quota instances, of which your project may have 4", told
        )
        self.flags(instances=-1, group="quota")
        self.assertEqual([], self.refused(size=8))
        [told] = self.refused(size=9)
        self.assertIn("it needs 576 of Nova's quota ram, of which your project may have 512", told)


class TestAtStart(QueueTestCase):
    def failed(self, number):
        """A job's reason, once it has failed; it fails at the first attempt."""

        def over():
            self.engine.poll()
            job = self.store.job(number)
            return job if job.state == JobState.FAILED else None

        job = self.poll(over, f"job {number} fails")
        self.assertEqual(1, self.kinds(number).count("not started"))
        self.assertEqual([], self.servers(number))
        return job.reason

    def test_a_key_pair_that_is_gone(self):
        job = self.store.submit(2, [0.5], key_name="gone")
        reason = self.failed(job.number)
        self.assertIs(failures.NOVA_REFUSED, reason.code)
        self.assertEqual(
            "did not start: Nova refused its servers (HTTP 400): Invalid key_name provided.",
            str(reason),
        )
        [told, *_more] = [reason for reason in self.reasons() if "key_name" in reason]
        self.assertIn("(req-", told)

    def test_a_flavor_that_was_deleted_since(self):
        spec = {"resources:CUSTOM_TWOTIER_SLOT": "1"}
        flavor = self._create_flavor(
            memory_mb=64, vcpu=1, disk=1, ephemeral=0, name="short-lived", extra_spec=spec
        )
        job = self.store.submit(1, [0.5], flavor="short-lived")
        self.admin_api.delete_flavor(flavor)
        reason = self.failed(job.number)
        self.assertIs(failures.NO_FLAVOR, reason.code)
        self.assertIn("there is no flavor short-lived", str(reason))

    def test_an_image_that_needs_more_than_the_flavor_has(self):
        for name, value, told in (
            (
                "min_disk",
                20,
                "Flavor's disk is smaller than the minimum size specified in image metadata",
            ),
            ("min_ram", 4096, "Flavor's memory is too small for requested image."),
        ):
            image = self.glance.create(
                None,
                {
                    **self.glance.auto_disk_config_enabled_image,
                    "id": str(uuid.uuid4()),
                    "min_disk": 0,
                    "min_ram": 0,
                    name: value,
                },
            )
            reason = self.failed(self.store.submit(1, [0.5], image=image["id"]).number)
            self.assertIs(failures.NOVA_REFUSED, reason.code)
            self.assertIn(told, str(reason))

    def test_user_data_that_is_too_long_is_not_repeated(self):
        job = self.store.submit(1, [0.5], user_data="c2VjcmV0" * 10_000)
        reason = self.failed(job.number)
        self.assertEqual(
            "did not start: Nova refused its servers (HTTP 400): Invalid input for field/attribute "
            "user_data",
            str(reason),
        )
        self.assertNotIn("c2VjcmV0", "".join(self.reasons()))

    def test_a_quota_is_waited_for(self):
        self.flags(cores=1, group="quota")
        job = self.store.submit(2, [0.5])

        def waits_for_it():
            self.engine.poll()
            found = self.store.job(job.number)
            self.assertNotEqual(JobState.FAILED, found.state)
            return found.reason is not None and found.reason.code is waits.QUOTA_TOO_SMALL

        self.poll(waits_for_it, "it waits for quota")
        self.assertEqual(0, self.store.job(job.number).failures)
        self.flags(cores=-1, group="quota")
        self.until(job.number, JobState.RUNNING)
