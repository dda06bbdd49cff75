"""`openstack twotier pool list` and `pool show`."""

import fixtures

from nova_twotier.api.site import Site
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
        self.assertEqual("there is no pool 'fpga'; there are default, gpu", error)
