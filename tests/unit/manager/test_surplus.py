"""Which servers of a job that was booted twice are its gang, and which are deleted."""

import dataclasses
from concurrent.futures import Future
from unittest import mock

import testtools

from nova_twotier.db.states import JobState
from nova_twotier.manager.surplus import RETRY_AFTER, Surplus
from tests.unit.manager.builders import job, seen, servers


class TestSurplus(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.one = job()
        self.deleted = []
        cloud = mock.Mock()
        cloud.delete = lambda server: self.deleted.append(server.id)
        self.surplus = Surplus(cloud, self.tell)
        self.hangs = False

    def tell(self, request):
        request.run()
        answer = Future()
        if not self.hangs:
            answer.set_result(None)
        return answer

    def boot(self, name, count=2, **values):
        return [
            dataclasses.replace(each, id=f"{name}{each.index}", reservation=name, **values)
            for each in servers(self.one, count=count)
        ]

    def poll(self, *boots, at=100.0):
        """Ids of the gang, and of what is deleted."""
        self.deleted.clear()
        look = seen([server for boot in boots for server in boot], at=at)
        self.surplus.poll([self.one], look)
        return [server.id for server in look.gang(self.one)], self.deleted

    def test_the_older_whole_gang_stays(self):
        first, second = self.boot("a", created="2026-01-02"), self.boot("b", created="2026-01-03")
        for boots in ((first, second), (second, first)):
            self.assertEqual((["a0", "a1"], ["b0", "b1"]), self.poll(*boots))
            self.poll()  # The second boot is gone, and may come again.

    def test_what_works_without_a_slot_is_left_alone(self):
        """Such as what its owner has restored from a backup, with the metadata of a server."""
        gang, restored = self.boot("a", created="1"), self.boot("b", created="2")
        look = seen([*gang, *restored])
        claims = {vm: claim for vm, claim in look.claims.items() if vm.startswith("a")}
        self.surplus.poll([self.one], dataclasses.replace(look, claims=claims))
        self.assertEqual([], self.deleted)

    def test_a_whole_one_goes_before_an_older_part(self):
        part, whole = self.boot("a", count=1, created="1"), self.boot("b", created="2")
        self.assertEqual((["b0", "b1"], ["a0"]), self.poll(part, whole))

    def test_the_gang_that_it_has_run_on_stays(self):
        """Whatever the dates: API nodes' clocks differ."""
        late, gang = self.boot("a", created="1"), self.boot("b", created="2")
        look = seen([*late, *gang])
        look = dataclasses.replace(look, recorded={"b0", "b1"})
        self.surplus.poll([self.one], look)
        self.assertEqual((gang, ["a0", "a1"]), (look.gang(self.one), self.deleted))

    def test_which_may_become_whole_while_the_job_starts(self):
        self.one.state = JobState.STARTING
        part, whole = self.boot("a", count=1, created="1"), self.boot("b", created="2")
        self.assertEqual((["b0", "b1"], []), self.poll(part, whole))
        part = self.boot("c", count=1, created="3")
        self.assertEqual((["b0", "b1"], ["c0"]), self.poll(whole, part))

    def test_what_is_being_deleted_is_no_gang(self):
        leaving = self.boot("a", created="1", task="deleting")
        self.assertEqual(["b0", "b1"], self.poll(leaving, self.boot("b", created="2"))[0])

    def test_one_that_failed_is_no_gang_beside_another(self):
        """An earlier start's that Nova carried out late, when its slots were gone."""
        failed, whole = self.boot("a", created="1", status="ERROR"), self.boot("b", created="2")
        self.assertEqual((["b0", "b1"], ["a0", "a1"]), self.poll(failed, whole))
        self.one.state = JobState.STARTING
        self.assertEqual((["b0", "b1"], []), self.poll(failed, whole))
        again = self.boot("c", created="3", status="ERROR")
        self.assertEqual((["a0", "a1"], ["c0", "c1"]), self.poll(failed, again))

    def test_without_a_whole_one_all_count(self):
        parts = self.boot("a", count=1), self.boot("b", count=1), self.boot("c", count=1)
        self.assertEqual((["a0", "b0", "c0"], []), self.poll(*parts))

    def test_once_until_it_is_time_again(self):
        first, second = self.boot("a", created="1"), self.boot("b", created="2")
        asked = [len(self.poll(first, second, at=at)[1]) for at in (100, 101, 100 + RETRY_AFTER)]
        self.assertEqual([2, 0, 2], asked)

    def test_not_again_before_there_is_an_answer(self):
        self.hangs = True
        first, second = self.boot("a", created="1"), self.boot("b", created="2")
        asked = [len(self.poll(first, second, at=at)[1]) for at in (100, 100 + RETRY_AFTER)]
        self.assertEqual([2, 0], asked)
