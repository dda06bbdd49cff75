"""Where Nova keeps deleted servers for a while (`reclaim_instance_interval`)."""

from nova_twotier.db.states import JobState
from tests.functional.base import BG, FG
from tests.functional.queue_case import QueueTestCase


class TestSoftDeletion(QueueTestCase):
    HOSTS = 1

    def configure(self):
        super().configure()
        self.flags(reclaim_instance_interval=3600)

    def test_servers_of_jobs_leave_nothing_behind(self):
        job = self.store.submit(2, [0.5]).number
        self.until(job, JobState.RUNNING, tier=FG)
        gang = self.servers(job)
        self.store.request_action(job, "complete")
        self.until(job, JobState.FINISHED)
        self.assertEqual([set(), set()], [self.resources(server) for server in gang])

    def test_a_server_that_its_owner_deletes_keeps_its_slot(self):
        flavor = self.tier_flavor(**{"twotier:tier": BG})
        [server] = self.boot(flavor=flavor)
        self.api.delete_server(server["id"])
        self.poll(lambda: not self.api.get_servers(), "it is not listed any more")
        self.assertEqual((0, 1), self.totals())
        # As doc/troubleshooting.md lists it.
        query = {"all_tenants": True, "deleted": True, "status": "SOFT_DELETED"}
        [kept] = self.admin_api.get_servers(search_opts=query)
        self.assertEqual(server["id"], kept["id"])
        self.api.post_server_action(server["id"], {"forceDelete": None})
        self.poll(lambda: self.totals() == (0, 0), "its slot is free")
