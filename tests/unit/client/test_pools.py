"""`openstack twotier pool list` and `pool show`."""

import fixtures

from nova_twotier.api.site import Site
from nova_twotier.client.rest import Api
from nova_twotier.core.reasons import waits
from tests.unit.api.network import FG
from tests.unit.api.test_pools import Cloud
from tests.unit.client.case import CommandCase


class TestPools(CommandCase):
    OPTIONS = "[manager]\npools = default, gpu"

    def setUp(self):
        super().setUp()
        self.cloud = Cloud()
        for service in ("placement", "aggregates"):
            self.useFixture(fixtures.MockPatchObject(Site, service, self.cloud))
        self.cloud.held = {("a", FG): 3}
        self.cloud.down = {"c"}
        self.submit(size=3)

    def test_list(self):
        rows = self.shown("pool", "list")
        headings = "Name Mode Policy Hosts Slots FG.Free BG.Free Waiting Running"
        self.assertEqual([each.replace(".", " ") for each in headings.split()], list(rows[0]))
        self.assertEqual(
            [
                ["default", "active", "amcbf", 2, 10, 5, 12, 1, 0],
                ["gpu", "active", "amcbf", 1, 8, 8, 0, 0, 0],
            ],
            [list(row.values()) for row in rows],
        )

    def test_show(self):
        shown = self.shown("pool", "show", "default")
        self.assertTrue(shown.pop("description"))
        self.assertEqual(
            {
                "name": "default",
                "mode": "active",
                "policy": "amcbf",
                "policy_configured": "amcbf",
                "policy_set_to": None,
                "hosts": 3,
                "hosts_available": 2,
                "slots": 10,
                "foreground_places": 10,
                "foreground_free": 5,
                "background_places": 14,
                "background_free": 12,
                "jobs_waiting": 1,
                "jobs_running": 0,
                "processes_waiting": 3,
                "processes_running": 0,
            },
            shown,
        )

    def test_a_pool_that_there_is_not(self):
        error = self.refused("pool", "show", "fpga")
        self.assertEqual("there is no pool 'fpga', only default, gpu", error)

    def test_without_a_name(self):
        self.assertEqual("default", self.shown("pool", "show")["name"])
        pools = [pool | {"name": name} for pool in self.api.pools() for name in ("gpu", "fpga")]
        for found, expected in ((pools[:1], "gpu"), (pools[:2], None)):
            self.useFixture(fixtures.MockPatchObject(Api, "pools", return_value=found))
            if expected:
                self.assertEqual(expected, self.shown("pool", "show")["name"])
            else:
                self.assertEqual(
                    "say which pool, there are gpu, fpga", self.refused("pool", "show")
                )

    def test_a_job_that_is_larger_than_its_pool(self):
        told = self.succeed("job", "create", "--size", "11", "--name", "big")
        self.assertEqual(
            "Job 2 (big) is queued, but larger than its pool: it needs 11 slots in one tier, and "
            "pool default has 10. Cancel it and submit it with a smaller size, or wait until hosts "
            "are added to the pool.\n",
            told,
        )
        self.change(self.api.find("big"), reason=waits.TOO_LARGE(size=11, slots=9))
        told = self.succeed("job", "set", "big", "--priority", "1")
        self.assertIn("and pool default has 9. Cancel it", told)
        self.change(self.api.find("big"), reason=waits.EMPTY_POOL(pool="default"))
        told = self.succeed("job", "set", "big", "--priority", "2")
        self.assertIn("but pool default has no hosts: it waits until the operator adds some", told)
        fits = self.succeed("job", "create", "--size", "10", "--name", "fits")
        self.assertEqual("Job 3 (fits) is queued, 3rd in the queue.\n", fits)
