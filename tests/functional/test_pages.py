"""The manager, the API and the audit with more of everything than Nova puts on a page."""

import fixtures
from nova.virt import fake

from nova_twotier.api.aggregates import Aggregates
from nova_twotier.audit.nova import Nova
from nova_twotier.db.states import JobState
from tests.functional.queue_case import QueueTestCase

DOMAIN = ".example"


class TestPages(QueueTestCase):
    """Hypervisors have other names than their nova-compute, as with libvirt."""

    HOSTS = 5
    SLOTS = 1

    def configure(self):
        super().configure()
        self.flags(max_limit=2, group="api")
        set_nodes = fake.FakeDriver._set_nodes

        def rename(driver, names):
            set_nodes(driver, [name + DOMAIN for name in names])

        self.useFixture(fixtures.MonkeyPatch("nova.virt.fake.FakeDriver._set_nodes", rename))

    def sync(self, shapes):
        return super().sync({host + DOMAIN: shape for host, shape in shapes.items()})

    def tier_flavor(self, **extra):
        """The last of several, on the last page."""
        for memory in (32, 33, 34):
            self._create_flavor(memory_mb=memory, vcpu=1, disk=1, ephemeral=0)
        return super().tier_flavor(**extra)

    def groups(self):
        return self.admin_api.api_get("/os-server-groups?all_projects=True").body["server_groups"]

    def test_jobs_from_their_start_to_their_end(self):
        names = {host + DOMAIN for host in self.hosts}
        self.assertEqual(names, self.cloud.hosts().keys())
        jobs = [self.store.submit(size, [0.5] * size).number for size in (2, 1, 1)]
        for job in jobs:
            self.until(job, JobState.RUNNING)
        servers = self.cloud.servers()
        self.assertEqual(4, len(servers))
        self.assertEqual((4, 0), self.totals())
        for server in servers:
            self.assertEqual(server, self.cloud.server(server.id))

        # Each to the place that is free, whatever page its host is on.
        for server in servers:
            [free] = names - {each.host for each in self.cloud.servers()}
            self.cloud.live_migrate(server, free)
            self.settle({"id": server.id})
            self.assertEqual(free, self.cloud.server(server.id).host)

        audit = Nova(self.as_admin())
        self.assertEqual({server.id for server in servers}, audit.vms().keys())
        self.assertEqual({server.id for server in servers}, self.moved(audit))
        self.assertEqual(names, audit.shapes().keys())
        self.assertEqual(names, Aggregates(self.as_admin()).shapes().keys())

        for job in jobs:
            self.store.request_action(job, "cancel")
        for job in jobs:
            self.until(job, JobState.CANCELLED)
        self.assertEqual([], self.cloud.servers())
        self.assertEqual([], self.groups())

    def test_the_group_of_a_boot_that_is_repeated(self):
        """There is one, and nothing of it stays, whatever page it is on."""
        for number in range(3):
            self.cloud.nova.server_groups.create(f"other{number}", "soft-affinity")
        job = self.store.job(self.store.submit(1, [0.5]).number)
        for _attempt in range(2):
            self.cloud.boot(job)
        self.assertEqual(4, len(self.group_names()))
        self.cloud.delete_server_group(job)
        self.assertEqual(["other0", "other1", "other2"], sorted(self.group_names()))

    def group_names(self):
        url = "/os-server-groups?all_projects=True&limit=2&offset="
        pages = (self.admin_api.api_get(f"{url}{n}").body["server_groups"] for n in (0, 2, 4))
        return [group["name"] for page in pages for group in page]

    @staticmethod
    def moved(audit):
        return {migration.vm for migration in audit.migrations().values()}
