"""Which servers are locked, and how often that is asked for."""

import dataclasses
from concurrent.futures import Future
from unittest import mock

import testtools

from nova_twotier.db.states import JobState
from nova_twotier.manager.server_locks import AT_ONCE, RETRY_AFTER, Locks
from tests.unit.manager.builders import job, seen, servers

OWNER = ("demo", "alice")


class TestLocks(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = mock.Mock()
        self.error = None
        self.locks = Locks(self.cloud, self.tell)

    def tell(self, call):
        call.run()
        answer = Future()
        answer.set_result(self.error)
        return answer

    def job(self, **values):
        return job(**{"trust_id": "t1", "project_id": "demo", "user_id": "alice", **values})

    def servers(self, of, locked=False, owner=OWNER, **values):
        found = servers(of, **values)
        return [dataclasses.replace(each, locked=locked, owner=owner) for each in found]

    def locked(self, one, gang, at=100.0):
        """Ids of the servers that a poll locks."""
        self.cloud.reset_mock()
        self.locks.poll([one], seen(gang, at=at))
        return [call.args[0].id for call in self.cloud.lock.call_args_list]

    def test_all_of_a_job(self):
        one = self.job()
        gang = self.servers(one)
        self.assertEqual([server.id for server in gang], self.locked(one, gang))
        [reason] = {call.args[1] for call in self.cloud.lock.call_args_list}
        self.assertEqual(f"job {one.uuid} of nova-twotier: use `openstack twotier job`", reason)

    def test_once_until_patience_ends(self):
        one = self.job(size=1)
        gang = self.servers(one)
        asked = [len(self.locked(one, gang, at)) for at in (100, 101, 100 + RETRY_AFTER)]
        self.assertEqual([1, 0, 1], asked)
        # It shows, and is taken off by an administrator: once more.
        locked = self.servers(one, locked=True)
        self.assertEqual([], self.locked(one, locked, 101 + 2 * RETRY_AFTER))
        self.assertEqual(1, len(self.locked(one, gang, 102 + 2 * RETRY_AFTER)))

    def test_whoever_locked_it_before(self):
        """Its owner may take off a lock of their own, but none of an administrator."""
        one = self.job(size=1)
        gang = self.servers(one, locked=True)
        self.error = "Nova does not answer"
        asked = [len(self.locked(one, gang, at)) for at in (100, 101, 100 + RETRY_AFTER)]
        self.assertEqual([1, 0, 1], asked)
        self.error = None
        later = [100 + times * RETRY_AFTER for times in (2, 3, 4)]
        self.assertEqual([1, 0, 0], [len(self.locked(one, gang, at)) for at in later])

    def test_after_a_takeover_other_requests_do_not_wait_for_all_locks(self):
        """Those that show a lock are locked a few at a time; those that show none, at once."""
        one, new = self.job(size=3 * AT_ONCE), self.job(size=2 * AT_ONCE)
        there, fresh = self.servers(one, locked=True), self.servers(new)
        answers = []

        def tell(call):
            answers.append((call.key.server, Future()))
            return answers[-1][1]

        locks = Locks(self.cloud, tell)
        for _poll in range(2):
            locks.poll([one, new], seen(there, fresh))
        first = [server.id for server in (*there[:AT_ONCE], *fresh)]
        self.assertEqual(first, [server for server, _answer in answers])
        for _poll in range(3):
            for _server, answer in answers:
                if not answer.done():
                    answer.set_result(None)
            locks.poll([one, new], seen(there, fresh))
        self.assertEqual(
            {server.id for server in (*there, *fresh)}, {server for server, _answer in answers}
        )
        self.assertEqual(5 * AT_ONCE, len(answers))

    def test_not_what_is_not_there_yet(self):
        one = self.job()
        for status, task in (("BUILD", "scheduling"), ("ERROR", None)):
            gang = self.servers(one, status=status, task=task, hosts=(None,))
            self.assertEqual([], self.locked(one, gang))

    def test_what_nova_is_busy_with(self):
        """Its owner could keep it so, with one image of it after the other."""
        one = self.job(size=1)
        for at, (status, task) in enumerate(
            (("BUILD", "spawning"), ("ACTIVE", "image_uploading"), ("ERROR", None))
        ):
            gang = self.servers(one, status=status, task=task)
            self.assertEqual(1, len(self.locked(one, gang, at=100 + at * RETRY_AFTER)), task)

    def test_not_the_managers_own(self):
        one = self.job(trust_id=None)
        self.assertEqual([], self.locked(one, self.servers(one, owner=None)))

    def test_not_those_of_others(self):
        """Who names somebody else's job in the metadata of a server gets nothing done to it."""
        one = self.job()
        for owner in (None, ("demo", "mallory"), ("other", "alice")):
            self.assertEqual([], self.locked(one, self.servers(one, owner=owner)))

    def test_not_at_the_end(self):
        """What is kept is unlocked."""
        one = self.job(state=JobState.ENDING)
        self.assertEqual([], self.locked(one, self.servers(one)))
