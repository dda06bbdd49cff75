"""Jobs that meet the limits of real Nova: what each becomes when it is too large for them."""

import types
from unittest import mock

import fixtures
from nova import exception
from nova.limit import local, placement
from nova.virt.fake import FakeDriver
from oslo_limit.fixture import LimitFixture

from nova_twotier.cloud.errors import CloudError
from nova_twotier.cloud.servers import Server
from nova_twotier.core.actions import Tier
from nova_twotier.core.reasons import waits
from nova_twotier.db.states import JobState
from tests.functional.queue_case import QueueTestCase

#: The limits that Nova may ask Keystone for.
LEGACY = [*local.LEGACY_LIMITS, *placement.LEGACY_LIMITS]
CLASSES = ["class:DISK_GB", "class:CUSTOM_TWOTIER_SLOT"]


class LargeJobCase(QueueTestCase):
    SLOTS = 8

    def until_refused(self, job):
        """The reason of a job that waits because Nova refused it for a quota."""

        def waits_for_it():
            self.engine.poll()
            found = self.store.job(job.number)
            self.assertEqual(0, found.failures, self.reasons())
            told = found.reason is not None and found.reason.code in waits.OF_QUOTA
            return found.reason if told else None

        return self.poll(waits_for_it, f"job {job.number} lacks quota")

    def members(self):
        """How many members each server group with any has."""
        counts = [len(group["members"]) for group in self.api.get_server_groups()]
        return [count for count in counts if count]


class TestQuotas(LargeJobCase):
    def test_members_of_a_server_group(self):
        """A job with more processes than a group may have members is in none."""
        self.flags(server_group_members=3, group="quota")
        for size, members in ((4, []), (3, [3])):
            job = self.store.submit(size, [0.5])
            self.until(job.number, JobState.RUNNING)
            self.assertEqual(members, self.members())
            self.store.request_action(job.number, "cancel")
            self.until(job.number, JobState.CANCELLED)
            self.assertEqual([], self.api.get_server_groups())

    def test_server_groups(self):
        self.flags(server_groups=1, group="quota")
        for _job in range(2):
            job = self.store.submit(2, [0.5])
            self.until(job.number, JobState.RUNNING)
            self.assertEqual([2], self.members())
            self.assertEqual(["submitted", "started"], self.kinds(job.number))

    def test_instances(self):
        self.flags(instances=3, group="quota")
        job = self.store.submit(4, [0.5])
        expected = waits.QUOTA_TOO_SMALL(resource="instances", limit=3)
        self.assertEqual(expected, self.until_refused(job))
        # The quota is large enough for each of these, and not for both.
        one, two = (self.store.submit(size, [0.5]) for size in (3, 2))
        self.until(one.number, JobState.RUNNING)
        self.assertIs(waits.QUOTA, self.until_refused(two).code)

    def test_memory(self):
        self.flags(ram=3 * 64, group="quota")
        expected = waits.QUOTA_TOO_SMALL(resource="ram", limit=3 * 64)
        self.assertEqual(expected, self.until_refused(self.store.submit(4, [0.5])))


class TestUnifiedLimits(LargeJobCase):
    """Nova says in other words that a limit in Keystone is reached."""

    def limit(self, without=(), **limits):
        """Register limits, but none for the resource classes without one."""
        registered = dict.fromkeys({*LEGACY, *CLASSES} - {*without}, 1000) | limits
        self.useFixture(LimitFixture(registered, {}))
        # What the fixture leaves out: Nova asks for the names of all limits if one seems to be 0.
        named = [types.SimpleNamespace(resource_name=name) for name in registered]
        client = types.SimpleNamespace(registered_limits=lambda: named)
        self.useFixture(fixtures.MonkeyPatch("nova.limit.utils.IDENTITY_CLIENT", client))
        self.flags(driver="nova.quota.UnifiedLimitsDriver", group="quota")

    def test_servers(self):
        self.limit(servers=3)
        job = self.store.submit(4, [0.5])
        expected = waits.QUOTA_TOO_SMALL(resource="servers", limit=3)
        self.assertEqual(expected, self.until_refused(job))
        one, two = (self.store.submit(size, [0.5]) for size in (3, 2))
        self.until(one.number, JobState.RUNNING)
        self.assertEqual("servers", dict(self.until_refused(two).parameters)["resources"])

    def test_resources_without_a_limit(self):
        """Nova's error lists them, too; by default it enforces only the limit of servers."""
        self.limit(without=CLASSES, servers=3)
        expected = waits.QUOTA_TOO_SMALL(resource="servers", limit=3)
        self.assertEqual(expected, self.until_refused(self.store.submit(4, [0.5])))
        one, two = (self.store.submit(size, [0.5]) for size in (3, 2))
        self.until(one.number, JobState.RUNNING)
        self.assertEqual(waits.QUOTA(resources="servers"), self.until_refused(two))
        self.store.request_action(one.number, "cancel")
        self.until(two.number, JobState.RUNNING)

    def test_requests_at_the_same_time(self):
        """Nova counts again when the servers have hosts; their fault has a part of what it says."""
        self.limit(without=CLASSES, servers=3)
        one = self.store.submit(3, [0.5])
        self.until(one.number, JobState.RUNNING)
        two = self.store.submit(2, [0.5])
        passed = mock.Mock(wraps=placement)
        passed.enforce_num_instances_and_resources = lambda *given, **_options: given[-1]
        with mock.patch("nova.compute.api.placement_limits", passed):
            self.assertEqual({"resources": "quota"}, dict(self.until_refused(two).parameters))
        self.store.request_action(one.number, "cancel")
        self.until(two.number, JobState.RUNNING)

    def test_a_server_that_is_brought_back(self):
        """Nova counts when it has a host for it; then it stays shelved, and Nova shows no fault."""
        self.limit(**{"class:VCPU": 2})
        _job, [shelved] = self.boot_job(Tier.FG, 1)
        self.act(shelved, "shelve", "SHELVED_OFFLOADED")
        _job, others = self.boot_job(Tier.FG, 2)
        server = Server(shelved["id"], "", 0, "SHELVED_OFFLOADED", None, None)
        self.cloud.unshelve(server)
        self.settle(shelved, "SHELVED_OFFLOADED")
        error = self.assertRaises(CloudError, self.cloud.unshelve, server, again=True)
        self.assertEqual(("class:VCPU", False), (error.shortage, error.passing))
        self.delete(others)
        self.cloud.unshelve(server)
        self.settle(shelved)

    def test_members_of_a_server_group(self):
        self.limit(server_group_members=3)
        job = self.store.submit(2, [0.5], retries=2)
        self.until(job.number, JobState.RUNNING)
        self.store.request_action(job.number, "requeue")
        self.until(job.number, JobState.RUNNING, runs=2)
        self.assertEqual([2], self.members())
        for size, members in ((4, [2]), (2, [2, 2])):
            job = self.store.submit(size, [0.5])
            self.until(job.number, JobState.RUNNING)
            self.assertEqual(members, self.members())


class TestAnswers(LargeJobCase):
    def test_one_that_is_lost_after_all_servers_were_made(self):
        """They are found again, and none is made twice."""
        boot, boots = self.cloud.boot, []

        def lost(*args, **kwargs):
            boots.append(args)
            boot(*args, **kwargs)
            raise CloudError("no answer within 60 s", 504)

        job = self.store.submit(12, [0.5])
        with mock.patch.object(self.cloud, "boot", lost):
            self.until(job.number, JobState.RUNNING)
        self.assertEqual((1, 12), (len(boots), len(self.servers(job.number))))
        self.assertEqual(["submitted", "started"], self.kinds(job.number))


class TestOneAttempt(LargeJobCase):
    def test_a_host_that_cannot_build_a_server(self):
        """Nova tries no other (`max_attempts` is 1): the whole gang is undone, and begins anew."""
        spawn, broken = "nova.virt.fake.FakeDriver.spawn", [True]
        job = self.store.submit(12, [0.5])

        original = FakeDriver.spawn

        def fails_once(*args, **kwargs):
            if broken:
                broken.clear()
                raise exception.VirtualInterfaceCreateException()
            return original(*args, **kwargs)

        with mock.patch(spawn, fails_once):
            self.until(job.number, JobState.RUNNING)
        self.assertEqual(["submitted", "not started", "started"], self.kinds(job.number))
        self.assertEqual(12, len(self.servers(job.number)))
        self.assertEqual((12, 0), self.totals())
