"""When the guests of a job are told who they are and where the others are."""

import dataclasses
from concurrent.futures import Future
from unittest import mock

import testtools

from nova_twotier.cloud import peers as cloud_peers
from nova_twotier.cloud.errors import CloudError
from nova_twotier.db.states import JobState
from nova_twotier.manager import peers
from tests.unit.manager.builders import job, seen, servers


class TestPeers(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = mock.Mock()
        self.peers = peers.Peers(self.cloud, self.tell)
        self.error = None
        self.one = job(peers=True, runs=1, run_since=90.0)
        self.gang = [
            dataclasses.replace(each, addresses={"lan": [{"addr": f"10.0.0.{each.index}"}]})
            for each in servers(self.one)
        ]
        self.ids = [server.id for server in self.gang]

    def tell(self, request):
        request.run()
        answer = Future()
        answer.set_result(self.error)
        return answer

    def poll(self, at=100.0, busy=(), gang=None):
        """Ids of the servers that were told something."""
        self.cloud.reset_mock()
        gang = self.gang if gang is None else gang
        self.peers.poll([self.one], busy, seen(gang, at=at))
        return [call.args[0].id for call in self.cloud.set_metadata.call_args_list]

    def shown(self):
        """The servers as they are when they show what they were told."""
        items = cloud_peers.running(self.one, self.gang)
        return [dataclasses.replace(each, metadata=items) for each in self.gang]

    def test_once(self):
        self.assertEqual(self.ids, self.poll())
        self.assertEqual([], self.poll(101.0), "it takes a while until it shows")
        self.assertEqual([], self.poll(1000.0, gang=self.shown()))
        self.assertEqual([], self.poll(1001.0, gang=self.shown()))

    def test_again_if_it_does_not_show(self):
        self.poll()
        later = 100.0 + peers.RETRY_AFTER
        first, second = self.shown()[0], self.gang[1]
        self.assertEqual([second.id], self.poll(later, gang=[first, second]))

    def test_what_nova_refuses_is_repeated_late(self):
        self.error = CloudError("Nova answered 400", 400)
        self.poll()
        self.assertEqual([], self.poll(100.0 + peers.RETRY_AFTER))
        self.assertEqual(self.ids, self.poll(100.0 + peers.RETRY_REFUSED_AFTER))

    def told(self):
        """How many parts of the addresses the servers were just told."""
        calls = self.cloud.set_metadata.call_args_list
        return [call.args[1][cloud_peers.ADDRESSES] for call in calls]

    def test_more_than_the_quota_allows(self):
        """The guests wait, so they are told less at once."""
        self.error = CloudError("Maximum number of metadata items exceeds 20", 403)
        for at, parts, count in ((100.0, "1", 10), (101.0, "1", 1), (102.0, "0", 0)):
            self.assertEqual(self.ids, self.poll(at))
            self.assertEqual([parts] * 2, self.told())
            if count == 1:
                items = self.cloud.set_metadata.call_args.args[1]
                self.assertEqual("10.0.0.0", items[f"{cloud_peers.ADDRESSES}_0"])
        self.assertEqual([], self.peers.notes)
        self.error = None
        self.assertEqual([], self.poll(103.0), "all that can be done was refused")

    def test_less_than_all_is_noted_once(self):
        later = peers.RETRY_REFUSED_AFTER
        quota = CloudError("Maximum number of metadata items exceeds 20", 403)
        noted = []
        for at in (100.0, 101.0 + later, 102.0 + 2 * later):
            self.error = quota
            self.assertEqual(self.ids, self.poll(at))
            self.error = None
            self.assertEqual(self.ids, self.poll(at + 1))
            self.assertEqual([], self.poll(at + 2))
            self.assertEqual([], self.poll(at + later - 1))
            noted += self.peers.notes
            self.peers.notes.clear()
        self.assertEqual([(self.one.number, "peers")], [(note.job, note.kind) for note in noted])
        self.assertEqual([], self.poll(5000.0, gang=self.shown()))

    def test_what_has_changed_is_told_at_once(self):
        for at, change in enumerate(({"name": "other"}, {"walltime": 60.0}, {"runs": 2})):
            gang = self.shown()
            self.assertEqual([], self.poll(100.0 + at, gang=gang))
            for name, value in change.items():
                setattr(self.one, name, value)
            self.assertEqual(self.ids, self.poll(100.5 + at, gang=gang), change)

    def test_not_while_something_else_is_done_to_it(self):
        self.assertEqual([], self.poll(busy={self.one.number}))
        self.assertEqual([], self.poll(gang=self.gang[:1]), "a server is missing")
        busy = [dataclasses.replace(self.gang[0], task="migrating"), self.gang[1]]
        self.assertEqual([busy[1].id], self.poll(gang=busy))
        for state in (JobState.PREEMPTING, JobState.ENDING, JobState.STARTING):
            self.one.state = state
            self.assertEqual([], self.poll(1000.0))

    def test_not_beside_another_request_that_changes_metadata(self):
        """Nova writes all of them back: one of two requests might be undone."""
        noticed = [dataclasses.replace(each, notice="preempted at 2026") for each in self.gang]
        self.assertEqual([], self.poll(gang=noticed))
        self.one.warned_at = 99.0
        self.assertEqual([], self.poll(100.0))
        self.assertEqual(self.ids, self.poll(99.0 + peers.WARNING))
