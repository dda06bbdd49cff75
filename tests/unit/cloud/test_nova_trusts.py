"""Who asks Nova for what: a job's owner, by its trust, or the manager; and whose servers count."""

import requests_mock

from nova_twotier.cloud.errors import CloudError
from tests.unit.cloud.cloud_case import JOB, NOVA, TRUSTS, CloudCase

ACTIVE = {
    "status": "ACTIVE",
    "OS-EXT-STS:task_state": None,
    "OS-EXT-SRV-ATTR:hypervisor_hostname": "a",
}


class TestBoot(CloudCase):
    def boot(self, max_mbps=0, **values):
        self.cloud.boot(self.job(**values), max_mbps=max_mbps)
        return self.booted.last_request

    def test_the_hottest_process_first(self):
        hints = self.boot(cpu=(0.4, 0.9)).json()["os:scheduler_hints"]
        self.assertEqual("1,0", hints["twotier:dispatch"])
        hints = self.boot(cpu=(0.9, 0.4)).json()["os:scheduler_hints"]
        self.assertNotIn("twotier:dispatch", hints)

    def test_the_largest_bandwidth(self):
        hints = self.boot(max_mbps=600, bandwidth=100.0).json()["os:scheduler_hints"]
        self.assertEqual("600", hints["twotier:max_mbps"])
        self.assertNotIn("twotier:max_mbps", self.boot().json()["os:scheduler_hints"])

    def test_by_the_trust(self):
        self.assertEqual("trust-token", self.boot(trust_id="t1").headers["X-Auth-Token"])

    def test_without_a_trust(self):
        self.assertEqual("managers-token", self.boot().headers["X-Auth-Token"])

    def test_the_scheduler_knows_it(self):
        request = self.boot(trust_id="t1")
        self.assertEqual(self.cloud.boot_request, request.headers["X-OpenStack-Request-ID"])
        self.assertNotIn(self.cloud.boot_request, request.text)

    def test_broken_trust(self):
        self.trust_status = 403
        error = self.assertRaises(CloudError, self.boot, trust_id="t1")
        self.assertIn(
            "the project or the user is disabled or deleted, or the user has lost",
            str(error.reason),
        )
        self.assertFalse(error.passing)
        self.assertFalse(self.booted.called)

    def test_keystone_is_down(self):
        self.trust_status = 503
        error = self.assertRaises(CloudError, self.boot, trust_id="t1")
        self.assertEqual((None, True), (error.reason, error.passing))


class TestServers(CloudCase):
    def seen(self, *servers):
        """What the manager sees when Nova lists servers of these projects, users and metadata."""
        listed = [
            {
                "id": f"s{index}",
                "name": "whatever",
                "metadata": metadata,
                "tenant_id": project,
                "user_id": user,
                "OS-EXT-SRV-ATTR:launch_index": index,
                **ACTIVE,
            }
            for index, (project, user, metadata) in enumerate(servers)
        ]
        pages = [{"json": {"servers": page}} for page in (listed, [])]
        self.http.get(f"{NOVA}/servers/detail", pages)
        return self.cloud.servers()

    def owners(self, *servers):
        found = self.seen(*((*owner, {"twotier_job": JOB}) for owner in servers))
        self.assertEqual(list(range(len(servers))), [server.index for server in found])
        return [server.owner for server in found]

    def test_metadata_that_is_changed_later(self):
        """In the moment before the lock, say: a server neither leaves its job nor joins one."""
        named = {"twotier_job": JOB}
        before = (named, named, {})
        after = ({}, {"twotier_job": "another"}, named)
        for metadata in (before, after):
            found = self.seen(*(("demo", "alice", each) for each in metadata))
            self.assertEqual([("s0", JOB), ("s1", JOB)], [(each.id, each.job) for each in found])

    def test_what_is_on_record_counts_and_not_the_metadata(self):
        """Not even where a manager that has just started sees it for the first time."""
        self.cloud.remember({"s0": JOB, "s1": JOB})
        found = self.seen(
            *(("demo", "alice", each) for each in ({"twotier_job": "another"}, {}, {}))
        )
        self.assertEqual([("s0", JOB), ("s1", JOB)], [(each.id, each.job) for each in found])

    def test_whose_they_are(self):
        self.assertEqual(
            [("demo", "alice"), None, ("service", "alice"), ("demo", "manager")],
            self.owners(
                ("demo", "alice"), ("service", "manager"), ("service", "alice"), ("demo", "manager")
            ),
        )


class TestAfterwards(CloudCase):
    def test_group_of_another_project(self):
        """It may be on any page, and is deleted also when its owner is gone."""
        url = f"{NOVA}/os-server-groups?all_projects=True"
        pages = [[{"id": "g1", "name": "other"}], [{"id": "g2", "name": f"twotier-{JOB}"}], []]
        for offset, page in enumerate(pages):
            rest = f"&offset={offset}" if offset else ""
            self.http.get(f"{url}{rest}", json={"server_groups": page})
        deleted = self.http.delete(f"{NOVA}/os-server-groups/g2", status_code=204)
        self.cloud.delete_server_group(self.job(trust_id="t1"))
        self.assertEqual("managers-token", deleted.last_request.headers["X-Auth-Token"])

    def test_group_that_is_gone(self):
        deleted = self.http.delete(requests_mock.ANY, status_code=204)
        self.cloud.delete_server_group(self.job())
        self.assertFalse(deleted.called)

    def test_trust(self):
        deleted = self.http.delete(f"{TRUSTS}/t1", status_code=204)
        self.cloud.delete_trust(self.job(trust_id="t1"))
        self.assertEqual("managers-token", deleted.last_request.headers["X-Auth-Token"])

    def test_no_trust(self):
        deleted = self.http.delete(requests_mock.ANY, status_code=204)
        self.cloud.delete_trust(self.job())
        self.assertFalse(deleted.called)

    def test_trust_that_is_not_deleted(self):
        self.http.delete(f"{TRUSTS}/t1", status_code=503)
        error = self.assertRaises(CloudError, self.cloud.delete_trust, self.job(trust_id="t1"))
        self.assertTrue(error.passing)
