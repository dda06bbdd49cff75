"""What the manager keeps writing to the ledger, and what not."""

import dataclasses

from nova_twotier.ledger import names
from nova_twotier.ledger.placement import Conflict
from nova_twotier.manager.upkeep import RETRY_AFTER
from tests.unit.manager import builders
from tests.unit.manager.engine_case import PollCase


class TestPoints(PollCase):
    """A server has no CPU points, since its host was shrunk below its use; another gets its own."""

    def setUp(self):
        super().setUp()
        self.job = self.running(size=2, cpu=0.5)
        self.gang = builders.servers(self.job, hosts="ab")
        self.full, self.lacking, self.tried = True, {each.id for each in self.gang}, []
        self.placement.get.side_effect = self.allocations
        self.placement.post.side_effect = self.write

    def allocations(self, url):
        host = "a" if url.endswith("/0") else "b"
        return {
            "allocations": {f"{host}-fg": {"resources": {names.SLOT: 1}}},
            "consumer_type": names.VM_CONSUMER,
            "consumer_generation": 1,
            "project_id": "p",
            "user_id": "u",
        }

    def write(self, _url, body):
        self.tried.append(sorted(body))
        if self.full and self.gang[0].id in body:
            raise Conflict("no room")
        self.lacking -= body.keys()

    def poll_at(self, now):
        self.now, self.tried = now, []
        seen = builders.seen(self.gang, at=now)
        for vm in self.lacking:
            seen.claims[vm] = dataclasses.replace(seen.claims[vm], cpu_points=0)
        self.engine.seen = seen
        self.engine.poll()
        return self.tried

    def test_a_host_without_room_is_not_asked_at_every_poll(self):
        first, second = ([server.id] for server in self.gang)
        self.assertEqual([[*first, *second], first, second], self.poll_at(100.0))
        self.assertEqual([], self.poll_at(101.0))
        self.assertEqual([first], self.poll_at(100.0 + RETRY_AFTER))
        self.full = False
        self.assertEqual([], self.poll_at(101.0 + RETRY_AFTER))
        self.assertEqual([first], self.poll_at(100.0 + 2 * RETRY_AFTER))
        self.assertEqual(set(), self.lacking)

    def test_who_comes_to_another_host_is_not_kept_waiting(self):
        first, second = self.gang
        self.poll_at(100.0)
        self.gang, self.full = [dataclasses.replace(first, host="b"), second], False
        self.assertEqual([[first.id]], self.poll_at(101.0))
