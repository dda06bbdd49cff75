"""Notices of preemptions that were given up are withdrawn."""

import dataclasses
from concurrent.futures import Future
from unittest import mock

import testtools

from nova_twotier.db.states import JobState
from nova_twotier.manager.notices import RETRY_AFTER, Notices
from tests.unit.manager.builders import job, seen, servers


class TestNotices(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud, self.told = mock.Mock(), []
        self.notices = Notices(self.cloud, self.tell)

    def tell(self, request):
        self.told.append(request.key.server)
        request.run()
        answer = Future()
        answer.set_result(None)
        return answer

    def poll(self, one, notice, at=100.0, busy=()):
        gang = [dataclasses.replace(each, notice=notice) for each in servers(one)]
        self.told.clear()
        self.notices.poll([one], busy, seen(gang, at=at))
        return self.told

    def test_of_a_job_that_runs_on(self):
        one = job(size=1)
        self.assertEqual([f"{one.number}/0"], self.poll(one, "preempted at 2026"))
        [[server, text]] = [call.args for call in self.cloud.notice.call_args_list]
        self.assertEqual((f"{one.number}/0", None), (server.id, text))

    def test_again_only_if_it_still_shows_later(self):
        one = job(size=1)
        self.poll(one, "preempted at 2026")
        self.assertEqual([], self.poll(one, "preempted at 2026", 101.0))
        later = 100.0 + RETRY_AFTER
        self.assertEqual([f"{one.number}/0"], self.poll(one, "preempted at 2026", later))

    def test_no_others(self):
        one = job(size=1)
        self.assertEqual([], self.poll(one, "stopped at 2026"), "of its walltime")
        self.assertEqual([], self.poll(one, "preempted at 2026", busy={one.number}))
        leaving = job(size=1, state=JobState.PREEMPTING)
        self.assertEqual([], self.poll(leaving, "preempted at 2026"))
