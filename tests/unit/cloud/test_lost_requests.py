"""Which requests were lost on their way to nova-compute, by what Nova says."""

import dataclasses

from nova_twotier.cloud.errors import Undecided
from nova_twotier.cloud.lost_requests import ON_ITS_WAY
from nova_twotier.cloud.servers import Server
from tests.unit.cloud.cloud_case import NOVA, CloudCase

VM = Server("vm", "job", 0, "ACTIVE", "shelving", "a")
#: By Nova's clock: when the request was made, and when that was long enough ago.
REQUESTED = "1970-01-01T04:00:00.000000"
AT_ONCE, LATER = "Thu, 01 Jan 1970 04:00:01 GMT", "Thu, 01 Jan 1970 04:10:00 GMT"


class TestLostRequests(CloudCase):
    def setUp(self):
        super().setUp()
        self.server = {"task": "shelving", "vm_state": "active", "state": "up"}
        self.conductors = [("up", "enabled"), ("up", "enabled"), ("down", "disabled")]
        self.events = []
        self.date = LATER
        self.vm = VM

    def reset(self, action="shelve"):
        """Reset the server if its last request was lost; returns whether it was."""
        shown = {
            "id": "vm",
            "status": "ACTIVE",
            "OS-EXT-STS:task_state": self.server["task"],
            "OS-EXT-STS:vm_state": self.server["vm_state"],
            "OS-EXT-SRV-ATTR:host": "node",
        }
        self.http.get(f"{NOVA}/servers/vm", json={"server": shown})
        log = [
            {"action": name, "request_id": f"req-{number}", "start_time": REQUESTED}
            for number, name in enumerate(("lock", action, action, "create"))
        ]
        url = f"{NOVA}/servers/vm/os-instance-actions"
        self.http.get(url, [{"json": {"instanceActions": page}} for page in (log, [])])
        latest = {"instanceAction": log[1] | {"events": self.events}}
        self.http.get(f"{url}/req-1", json=latest, headers={"Date": self.date})
        compute = {"host": "node", "state": self.server["state"], "status": "disabled"}
        self.http.get(f"{NOVA}/os-services?binary=nova-compute", json={"services": [compute]})
        services = [{"state": state, "status": status} for state, status in self.conductors]
        self.http.get(f"{NOVA}/os-services?binary=nova-conductor", json={"services": services})
        asked = self.http.post(f"{NOVA}/servers/vm/action", status_code=202)
        self.cloud.reset_if_lost(self.vm)
        if asked.called:
            self.assertEqual({"os-resetState": {"state": "active"}}, asked.last_request.json())
        return asked.called

    def assert_not_known(self, **action):
        error = self.assertRaises(Undecided, self.reset, **action)
        self.assertTrue(error.passing)

    def test_one_that_nobody_began(self):
        self.assertTrue(self.reset())

    def test_one_that_nova_compute_has_begun(self):
        self.events = [{"event": "compute_shelve_instance", "finish_time": None}]
        self.assertFalse(self.reset())

    def test_another_task_by_now(self):
        self.server["task"] = None
        self.assertFalse(self.reset())

    def test_a_task_that_was_never_recorded(self):
        """Nobody knows what was asked for."""
        self.assertFalse(self.reset(action="suspend"))

    def test_one_that_brings_a_server_back(self):
        """Reset, it would count as running, and what was saved of it would be lost."""
        self.server.update(task="unshelving", vm_state="shelved_offloaded")
        self.vm = dataclasses.replace(VM, task="unshelving")
        self.assertFalse(self.reset(action="unshelve"))

    def test_a_guest_that_is_paused(self):
        self.server["vm_state"] = "paused"
        self.assertFalse(self.reset())

    def test_one_that_may_be_on_its_way(self):
        self.assertGreater(ON_ITS_WAY, 120.0)
        self.date = AT_ONCE
        self.assert_not_known()

    def test_while_its_nova_compute_is_down(self):
        """It may find the request when it is back."""
        self.server["state"] = "down"
        self.assert_not_known()

    def test_a_migration_is_begun_by_a_conductor(self):
        self.server["task"] = "migrating"
        self.vm = dataclasses.replace(VM, task="migrating")
        self.assertTrue(self.reset(action="live-migration"))
        self.conductors = [("up", "enabled"), ("down", "enabled")]
        self.assert_not_known(action="live-migration")
